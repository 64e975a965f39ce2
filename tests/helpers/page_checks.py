"""Scripts that find what is hard to read on a page; each returns what it finds."""

OVERFLOWING = """
return [...document.querySelectorAll('body *')].filter(e => {
  const box = e.getBoundingClientRect();
  return box.width && box.right > innerWidth + 1 && !e.closest('.scroll, .skip, pre, [hidden]');
}).map(e => e.tagName + '.' + e.className)
"""
SMALL_TEXT = """
return [...document.querySelectorAll('body *')].filter(e =>
  [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim()) && e.checkVisibility() &&
  !e.closest('script, style, option') && parseFloat(getComputedStyle(e).fontSize) < 11
).map(e => e.tagName + ' ' + getComputedStyle(e).fontSize + ' ' + e.textContent)
"""
PALE_TEXT = """
const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
const rgba = (colour) => {
  canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
  return [...canvas.getImageData(0, 0, 1, 1).data];
};
const light = ([r, g, b]) => {
  const linear = v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const [x, y, z] = [r, g, b].map(v => linear(v / 255));
  return 0.2126 * x + 0.7152 * y + 0.0722 * z;
};
const behind = (e) => {
  for (; e; e = e.parentElement) {
    const colour = rgba(getComputedStyle(e).backgroundColor);
    if (colour[3] > 250) return colour;
  }
  return rgba('white');
};
return [...document.querySelectorAll('body *')].filter(e => {
  if (![...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim())) return false;
  if (!e.checkVisibility() || e.closest('.skip, script, style, noscript')) return false;
  const svg = e.closest('svg'), style = getComputedStyle(e);
  const one = light(rgba(svg ? style.fill : style.color));
  const other = light(behind(svg ? svg.parentElement : e));
  return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05) < 4.5;
}).map(e => e.tagName + '.' + (e.className.baseVal ?? e.className) + ' ' + e.textContent)
"""
