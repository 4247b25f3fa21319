/* A disk that forgets, as a library to be preloaded.

   What a machine finds on its disk after its power failed is what it has synced. So at each fsync and fdatasync of a file
   below POWER_ROOT its content is copied below POWER_SHADOW, and at each fsync of a folder its list of names. Nothing
   else is kept: neither what was written and not synced, nor a new name in a folder that was not.

     data/KEY      the content of a file          names/KEY   the names in a folder: "f KEY NAME" or "d KEY NAME"

   KEY is the inode with the time of its birth, because inodes are used again. */

#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int key_of(int folder, const char *name, int flags, char *key, size_t size, unsigned *mode) {
    struct statx found;
    if (statx(folder, name, flags | AT_SYMLINK_NOFOLLOW, STATX_TYPE | STATX_INO | STATX_BTIME, &found)) return -1;
    snprintf(key, size, "%llu-%lld-%u", (unsigned long long)found.stx_ino, (long long)found.stx_btime.tv_sec,
             found.stx_btime.tv_nsec);
    *mode = found.stx_mode;
    return 0;
}

static int is_watched(int file) {
    const char *root = getenv("POWER_ROOT");
    char link[64], path[PATH_MAX];
    if (!root || !getenv("POWER_SHADOW")) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return strncmp(path, root, strlen(root)) == 0;
}

static void copy_data(int file, int target) {
    char link[64], part[65536];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    int source = open(link, O_RDONLY | O_CLOEXEC); /* it may be open for writing only */
    if (source < 0) return;
    ssize_t count;
    while ((count = read(source, part, sizeof part)) > 0)
        if (write(target, part, count) != count) break;
    close(source);
}

static void copy_names(int file, int target) {
    DIR *folder = fdopendir(openat(file, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!folder) return;
    struct dirent *entry;
    while ((entry = readdir(folder))) {
        char key[80];
        unsigned mode;
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
        if (key_of(dirfd(folder), entry->d_name, 0, key, sizeof key, &mode)) continue;
        dprintf(target, "%c %s %s\n", S_ISDIR(mode) ? 'd' : 'f', key, entry->d_name);
    }
    closedir(folder);
}

static void keep(int file) {
    char key[80], path[PATH_MAX], draft[PATH_MAX + 32];
    unsigned mode;
    if (!is_watched(file) || key_of(file, "", AT_EMPTY_PATH, key, sizeof key, &mode)) return;
    snprintf(path, sizeof path, "%s/%s/%s", getenv("POWER_SHADOW"), S_ISDIR(mode) ? "names" : "data", key);
    snprintf(draft, sizeof draft, "%s.%d.%lx.draft", path, getpid(), (unsigned long)&key);
    int target = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (target < 0) return;
    if (S_ISDIR(mode)) copy_names(file, target);
    else copy_data(file, target);
    close(target);
    rename(draft, path); /* at once: the process may be killed while this is going on */
}

int fsync(int file) {
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
    int told = real(file);
    if (!told) keep(file);
    return told;
}

int fdatasync(int file) {
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
    int told = real(file);
    if (!told) keep(file);
    return told;
}
