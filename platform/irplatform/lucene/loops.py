"""Loops over Lucene's terms, postings and matches that run in Java and write to files.

A call from Python takes a microsecond or more, too long for millions of documents. So these loops
are composed of Java's method handles, and each is one call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from irplatform.lucene.java import java_cast, java_class, java_list

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

NO_MORE = 2**31 - 1
"""Lucene's number of a document after the last one."""
_LUCENE = "org.apache.lucene"
_TERMS = f"{_LUCENE}.index.TermsEnum"
_POSTINGS = f"{_LUCENE}.index.PostingsEnum"
_SCORER = f"{_LUCENE}.search.Scorer"
_DOCUMENTS = f"{_LUCENE}.search.DocIdSetIterator"
_BYTES = f"{_LUCENE}.util.BytesRef"
_OUT = "java.io.DataOutputStream"


class Loops:
    """Loops that Java runs.

    In Java, the methods would read:

        void terms(DataOutputStream out, TermsEnum terms) {
            for (BytesRef term = terms.next(); term != null; term = terms.next()) {
                out.writeInt(term.length);
                out.writeInt(terms.docFreq());
                out.write(term.bytes, term.offset, term.length);
            }
        }

        void postings(DataOutputStream out, TermsEnum terms) {
            for (BytesRef term = terms.next(); term != null; term = terms.next()) {
                PostingsEnum found = terms.postings(null);
                for (int n = terms.docFreq(); n > 0; n--) {
                    out.writeInt(found.nextDoc());
                    out.writeInt(found.freq());
                }
            }
        }

        void matches(Iterable<Scorer> scorers, DataOutputStream out) {
            for (Scorer scorer : scorers) {
                DocIdSetIterator documents = scorer.iterator();
                int n = documents.nextDoc();
                for (; n != NO_MORE; n = documents.nextDoc()) {
                    out.writeInt(n);
                    out.writeFloat(scorer.score());
                }
                out.writeInt(n);
            }
        }
    """

    def __init__(self) -> None:
        self._handles = java_class("java.lang.invoke.MethodHandles")
        self._public = self._handles.publicLookup()
        self._write_int = self._method(_OUT, "writeInt", "(I)V")
        self._frequency = self._method(_TERMS, "docFreq", "()I")
        self._terms = self._over_terms(self._one_term())
        self._postings = self._over_terms(self._one_posting_list())
        self._matches = self._over_scorers()

    def write_terms(self, terms: Any, path: Path) -> None:
        """Write the length, the number of documents, and the bytes of each term."""
        self._write(self._terms, terms, path)

    def write_postings(self, terms: Any, path: Path) -> None:
        """Write the documents of each term, each with its frequency."""
        self._write(self._postings, terms, path)

    def matches(self, scorers: Sequence[Any]) -> bytes:
        """Documents and scores of each scorer's segment, and `NO_MORE` after each."""
        content = java_class("java.io.ByteArrayOutputStream")()
        out = java_class(_OUT)(content)
        self._matches.invokeWithArguments(java_list([java_list(scorers), out]))
        return bytes(content.toByteArray())

    def _write(self, loop: Any, terms: Any, path: Path) -> None:
        file = java_class("java.io.FileOutputStream")(str(path))
        buffer = java_class("java.io.BufferedOutputStream")(file, 1 << 16)
        out = java_class(_OUT)(buffer)
        try:
            loop.invokeWithArguments(java_list([out, terms]))
        finally:
            out.close()

    def _one_term(self) -> Any:
        """(BytesRef, out, terms) → void."""
        write = self._method(_OUT, "write", "([BII)V")
        for place, (name, of_type) in enumerate(
            (("bytes", "[B"), ("offset", "I"), ("length", "I"))
        ):
            write = self._compose(write, 1 + place, self._field(_BYTES, name, of_type))
        term, out, terms = _BYTES, _OUT, _TERMS
        write = self._permute(write, (term, out, terms), 1, 0, 0, 0)
        size = self._compose(self._write_int, 1, self._field(_BYTES, "length", "I"))
        size = self._permute(size, (term, out, terms), 1, 0)
        count = self._compose(self._write_int, 1, self._frequency)
        count = self._permute(count, (term, out, terms), 1, 2)
        return self._in_sequence(size, count, write)

    def _one_posting_list(self) -> Any:
        """(BytesRef, out, terms) → void."""
        document = self._compose(self._write_int, 1, self._method(_POSTINGS, "nextDoc", "()I"))
        frequency = self._compose(self._write_int, 1, self._method(_POSTINGS, "freq", "()I"))
        body = self._in_sequence(document, frequency)  # (out, postings)
        names = (_OUT, _POSTINGS, _TERMS)
        times = self._permute(self._frequency, names, 2)
        loop = self._handles.countedLoop(times, None, self._permute(body, ("I", *names), 1, 2))
        opened = self._method(
            _TERMS, "postings", f"({_descriptor(_POSTINGS)}){_descriptor(_POSTINGS)}"
        )
        null = self._handles.empty(_type(f"(){_descriptor(_POSTINGS)}"))
        loop = self._compose(loop, 1, self._compose(opened, 1, null))  # (out, terms, terms)
        return self._permute(loop, (_BYTES, _OUT, _TERMS), 1, 2, 2)

    def _over_terms(self, body: Any) -> Any:
        """(out, terms) → BytesRef, which is null."""
        term = _descriptor(_BYTES)
        following = self._method(_TERMS, "next", f"(){term}")
        exists = self._of_objects("nonNull").asType(_type(f"({term})Z"))
        names = (_BYTES, _OUT, _TERMS)
        return self._handles.whileLoop(
            self._permute(following, (_OUT, _TERMS), 1),
            self._permute(exists, names, 0),
            self._in_sequence(body, self._permute(following, names, 2)),
        )

    def _over_scorers(self) -> Any:
        """(scorers, out) → void."""
        body = self._compose(self._write_int, 1, self._over_documents())  # out, out, scorer, …
        opened = self._method(_SCORER, "iterator", f"(){_descriptor(_DOCUMENTS)}")
        body = self._compose(body, 3, opened)  # (out, out, scorer, scorer)
        body = self._permute(body, (_SCORER, "java.lang.Iterable", _OUT), 2, 2, 0, 0)
        return self._handles.iteratedLoop(None, None, body)

    def _over_documents(self) -> Any:
        """(out, scorer, documents) → int, which is `NO_MORE`."""
        following = self._method(_DOCUMENTS, "nextDoc", "()I")
        score = self._method(_OUT, "writeFloat", "(F)V")
        score = self._compose(score, 1, self._method(_SCORER, "score", "()F"))
        last = java_class("java.lang.Integer").valueOf(NO_MORE)
        is_last = self._method("java.lang.Integer", "equals", "(Ljava/lang/Object;)Z").bindTo(last)
        null = self._handles.empty(_type("()Ljava/lang/Object;"))
        answers = (self._compose(self._of_objects(name), 0, null) for name in ("nonNull", "isNull"))
        goes_on = self._handles.guardWithTest(
            is_last.asType(_type("(I)Z")),  # then false, else true
            *(self._permute(answer, ("I",)) for answer in answers),
        )
        names = ("I", _OUT, _SCORER, _DOCUMENTS)
        return self._handles.whileLoop(
            self._permute(following, (_OUT, _SCORER, _DOCUMENTS), 2),
            self._permute(goes_on, names, 0),
            self._in_sequence(
                self._permute(self._write_int, names, 1, 0),
                self._permute(score, names, 1, 2),
                self._permute(following, names, 3),
            ),
        )

    def _of_objects(self, name: str) -> Any:
        objects = java_class("java.lang.Class").forName("java.util.Objects")
        return self._public.findStatic(objects, name, _type("(Ljava/lang/Object;)Z"))

    def _method(self, owner: str, name: str, descriptor: str) -> Any:
        owner_class = java_class("java.lang.Class").forName(owner)
        return self._public.findVirtual(owner_class, name, _type(descriptor))

    def _field(self, owner: str, name: str, of_type: str) -> Any:
        owner_class = java_class("java.lang.Class").forName(owner)
        field_class = java_cast("java.lang.Class", _type(f"(){of_type}").returnType())
        return self._public.findGetter(owner_class, name, field_class)

    def _compose(self, handle: Any, place: int, argument: Any) -> Any:
        """A handle one of whose arguments is what another handle returns."""
        return self._handles.collectArguments(handle, place, argument)

    def _permute(self, handle: Any, names: Sequence[str], *places: int) -> Any:
        """A handle with parameters of these types, which passes on those at some places."""
        returned = handle.type().returnType().descriptorString()
        parameters = "".join(map(_descriptor, names))
        return self._handles.permuteArguments(handle, _type(f"({parameters}){returned}"), *places)

    def _in_sequence(self, *handles: Any) -> Any:
        """A handle that calls several with the same arguments, and returns what the last does."""
        last = handles[-1]
        for handle in reversed(handles[:-1]):
            last = self._handles.foldArguments(last, handle)
        return last


def _descriptor(name: str) -> str:
    return name if len(name) == 1 else f"L{name.replace('.', '/')};"


def _type(descriptor: str) -> Any:
    """A method's type from Java's descriptor: "(I)V" takes an int and returns nothing."""
    method_type = java_class("java.lang.invoke.MethodType")
    return method_type.fromMethodDescriptorString(descriptor, None)
