/* Faults at file operations: loaded with LD_PRELOAD, so that it meets Python's, Java's and native libraries'.

   Operations on files below a watched folder are counted: open to write, write, sync, rename, link, remove, mkdir,
   truncate, chmod, utime. From the operation with the armed number on, or at it, a fault happens. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum fault { NONE, CRASH, NO_SPACE, IO_ERROR, TERMINATE, INTERRUPT };
static char root[4096];
static int log_file = -1;
static _Atomic int armed;
static _Atomic long count, at;
#define STOPPED (-1)

void faults_watch(const char *folder) { snprintf(root, sizeof root, "%s", folder); }
void faults_arm(int fault, long number, int log) {
    count = 0;
    at = number;
    log_file = log;
    armed = fault;
}
long faults_count(void) { return count; }

static int watched(const char *path) {
    size_t length = strlen(root);
    return !strncmp(path, root, length) && (path[length] == '/' || !path[length]);
}

/* 0: go on; an errno; or STOPPED: end the process, after half of a write. */
static int fault(const char *operation, const char *path, int takes_space) {
    if (!*root || !watched(path)) return 0;
    long number = ++count;
    if (log_file >= 0) {
        char line[4400];
        int length = snprintf(line, sizeof line, "%ld\t%s\t%s\n", number, operation, path);
        syscall(SYS_write, log_file, line, length);
    }
    if (armed == NO_SPACE && number >= at && takes_space) return ENOSPC;
    if (number != at) return 0;
    switch (armed) {
        case CRASH: return STOPPED;
        case IO_ERROR: return EIO;
        case TERMINATE: kill(getpid(), SIGTERM); return 0;
        case INTERRUPT: kill(getpid(), SIGINT); return 0;
    }
    return 0;
}
static void stop(void) { syscall(SYS_exit_group, 137); }

static const char *place(int folder, const char *path, char *whole) {
    if (path[0] == '/') return path;
    char link[64];
    ssize_t length;
    if (folder == AT_FDCWD) snprintf(link, sizeof link, "/proc/self/cwd");
    else snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
    length = readlink(link, whole, 4095);
    if (length < 0) return "";
    snprintf(whole + length, 8192 - length, "/%s", path);
    return whole;
}
static const char *name_of(int file, char *whole) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, whole, 4095);
    if (length < 0) return "";
    whole[length] = 0;
    return whole;
}
#define REFUSE(error) do { int e = (error); if (e == STOPPED) stop(); if (e) { errno = e; return -1; } } while (0)
#define AT(operation, folder, path, space) \
    do { char whole[8192]; REFUSE(fault(operation, place(folder, path, whole), space)); } while (0)
#define ON(operation, file, space) \
    do { char whole[8192]; REFUSE(fault(operation, name_of(file, whole), space)); } while (0)

static int opened(int folder, const char *path, int flags, mode_t mode) {
    if (flags & (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)) AT("open", folder, path, (flags & O_CREAT) && syscall(SYS_faccessat, folder, path, F_OK));
    return syscall(SYS_openat, folder, path, flags, mode);
}
#define MODE(flags) \
    mode_t mode = 0; \
    if ((flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE) { va_list l; va_start(l, flags); mode = va_arg(l, mode_t); va_end(l); }
int open(const char *path, int flags, ...) { MODE(flags) return opened(AT_FDCWD, path, flags, mode); }
int open64(const char *path, int flags, ...) { MODE(flags) return opened(AT_FDCWD, path, flags, mode); }
int openat(int folder, const char *path, int flags, ...) { MODE(flags) return opened(folder, path, flags, mode); }
int openat64(int folder, const char *path, int flags, ...) { MODE(flags) return opened(folder, path, flags, mode); }
int creat(const char *path, mode_t mode) { return opened(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode); }
int creat64(const char *path, mode_t mode) { return creat(path, mode); }

#define WRITE(call_of_half, call) \
    char whole[8192]; \
    int error = *root ? fault("write", name_of(file, whole), 1) : 0; \
    if (!error) return call; \
    if (size > 1) call_of_half; \
    REFUSE(error); \
    return -1;
ssize_t write(int file, const void *bytes, size_t size) {
    WRITE(syscall(SYS_write, file, bytes, size / 2), syscall(SYS_write, file, bytes, size))
}
ssize_t pwrite64(int file, const void *bytes, size_t size, off64_t from) {
    WRITE(syscall(SYS_pwrite64, file, bytes, size / 2, from), syscall(SYS_pwrite64, file, bytes, size, from))
}
ssize_t pwrite(int file, const void *bytes, size_t size, off_t from) { return pwrite64(file, bytes, size, from); }
ssize_t writev(int file, const struct iovec *parts, int number) {
    size_t size = number ? parts[0].iov_len : 0;
    WRITE(syscall(SYS_write, file, parts[0].iov_base, size / 2), syscall(SYS_writev, file, parts, number))
}
ssize_t sendfile64(int file, int from, off64_t *offset, size_t size) {
    WRITE((void)0, syscall(SYS_sendfile, file, from, offset, size))
}
ssize_t sendfile(int file, int from, off_t *offset, size_t size) { return sendfile64(file, from, offset, size); }
ssize_t copy_file_range(int from, off64_t *a, int file, off64_t *b, size_t size, unsigned flags) {
    WRITE((void)0, syscall(SYS_copy_file_range, from, a, file, b, size, flags))
}
size_t fwrite(const void *bytes, size_t size, size_t number, FILE *stream) {
    static size_t (*real)(const void *, size_t, size_t, FILE *);
    if (!real) real = dlsym(RTLD_NEXT, "fwrite");
    int error = 0;
    char whole[8192];
    if (*root && fileno(stream) >= 0) error = fault("write", name_of(fileno(stream), whole), 1);
    if (!error) return real(bytes, size, number, stream);
    real(bytes, size, number / 2, stream);
    if (error == STOPPED) stop();
    errno = error;
    return number / 2;
}
static FILE *stream_of(const char *symbol, const char *path, const char *mode) {
    FILE *(*real)(const char *, const char *) = dlsym(RTLD_NEXT, symbol);
    char whole[8192];
    int error = strpbrk(mode, "wa+") ? fault("open", place(AT_FDCWD, path, whole), 1) : 0;
    if (error == STOPPED) stop();
    if (error) { errno = error; return NULL; }
    return real(path, mode);
}
FILE *fopen(const char *path, const char *mode) { return stream_of("fopen", path, mode); }
FILE *fopen64(const char *path, const char *mode) { return stream_of("fopen64", path, mode); }

int fsync(int file) { ON("sync", file, 1); return syscall(SYS_fsync, file); }
int fdatasync(int file) { ON("sync", file, 1); return syscall(SYS_fdatasync, file); }
int ftruncate64(int file, off64_t size) { ON("truncate", file, 1); return syscall(SYS_ftruncate, file, size); }
int ftruncate(int file, off_t size) { return ftruncate64(file, size); }
int truncate64(const char *path, off64_t size) { AT("truncate", AT_FDCWD, path, 1); return syscall(SYS_truncate, path, size); }
int truncate(const char *path, off_t size) { return truncate64(path, size); }
int posix_fallocate64(int file, off64_t from, off64_t size) {
    char whole[8192];
    int error = fault("truncate", name_of(file, whole), 1);
    if (error == STOPPED) stop();
    return error ? error : syscall(SYS_fallocate, file, 0, from, size) ? errno : 0;
}
int posix_fallocate(int file, off_t from, off_t size) { return posix_fallocate64(file, from, size); }

static int renamed(int a, const char *from, int b, const char *to, unsigned flags) {
    AT("rename", b, to, 1);
    return syscall(SYS_renameat2, a, from, b, to, flags);
}
int rename(const char *from, const char *to) { return renamed(AT_FDCWD, from, AT_FDCWD, to, 0); }
int renameat(int a, const char *from, int b, const char *to) { return renamed(a, from, b, to, 0); }
int renameat2(int a, const char *from, int b, const char *to, unsigned flags) { return renamed(a, from, b, to, flags); }
int linkat(int a, const char *from, int b, const char *to, int flags) {
    AT("link", b, to, 1);
    return syscall(SYS_linkat, a, from, b, to, flags);
}
int link(const char *from, const char *to) { return linkat(AT_FDCWD, from, AT_FDCWD, to, 0); }
int symlinkat(const char *target, int folder, const char *path) {
    AT("link", folder, path, 1);
    return syscall(SYS_symlinkat, target, folder, path);
}
int symlink(const char *target, const char *path) { return symlinkat(target, AT_FDCWD, path); }
int unlinkat(int folder, const char *path, int flags) {
    AT("remove", folder, path, 0);
    return syscall(SYS_unlinkat, folder, path, flags);
}
int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }
int rmdir(const char *path) { return unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }
int mkdirat(int folder, const char *path, mode_t mode) {
    AT("mkdir", folder, path, 1);
    return syscall(SYS_mkdirat, folder, path, mode);
}
int mkdir(const char *path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }
int fchmodat(int folder, const char *path, mode_t mode, int flags) {
    (void)flags;
    AT("chmod", folder, path, 0);
    return syscall(SYS_fchmodat, folder, path, mode);
}
int chmod(const char *path, mode_t mode) { return fchmodat(AT_FDCWD, path, mode, 0); }
__attribute__((optimize("no-delete-null-pointer-checks")))
int utimensat(int folder, const char *path, const struct timespec times[2], int flags) {
    if (path) AT("utime", folder, path, 0);
    return syscall(SYS_utimensat, folder, path, times, flags);
}
