/* Under valgrind, /proc/self/exe is valgrind itself. This library gives a program, which starts itself to guard its agent, its own
   path instead: the value of OWN_PROGRAM. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>

typedef int spawn_function(pid_t *, const char *, const posix_spawn_file_actions_t *,
                           const posix_spawnattr_t *, char *const[], char *const[]);
typedef int exec_function(const char *, char *const[]);

static const char *resolved(const char *file) {
    const char *own = getenv("OWN_PROGRAM");
    return own && strcmp(file, "/proc/self/exe") == 0 ? own : file;
}

int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
                 const posix_spawnattr_t *attributes, char *const arguments[],
                 char *const environment[]) {
    spawn_function *next = (spawn_function *)dlsym(RTLD_NEXT, "posix_spawnp");
    return next(pid, resolved(file), actions, attributes, arguments, environment);
}

int execvp(const char *file, char *const arguments[]) {
    exec_function *next = (exec_function *)dlsym(RTLD_NEXT, "execvp");
    return next(resolved(file), arguments);
}
