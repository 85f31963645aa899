/*
 * cuda_load.c - maps the GPU library, once in a process.
 *
 * Nothing of CUDA is called here, and nothing starts on a card.  Signals are
 * blocked while the library and those that it needs are mapped, so that a thread
 * that one of them may start blocks them too.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "cuda_module.h"

/* Set once per process: a library with threads of its own cannot be unmapped safely. */
static const gp_cuda_module *loaded = NULL;

/* True when the library was built with the structures that we know. */
static bool
check_module(const gp_cuda_module *module, char *reason)
{
	if (module == NULL)
		snprintf(reason, GP_CUDA_REASON, "the GPU library lacks \"%s\"", GP_CUDA_SYMBOL);
	else if (module->version != GP_CUDA_VERSION)
		snprintf(reason, GP_CUDA_REASON, "the GPU library has interface version %d instead of %d",
				 module->version, GP_CUDA_VERSION);
	else if (module->device_size != sizeof(gp_device) || module->env_size != sizeof(gp_env))
		snprintf(reason, GP_CUDA_REASON,
				 "the GPU library was built from other sources than the extension");
	else
		return true;
	return false;
}

const gp_cuda_module *
gp_cuda_load(const char *path, char *reason)
{
	if (loaded != NULL)
		return loaded;
	if (access(path, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR))
	{
		snprintf(reason, GP_CUDA_REASON, "the GPU library is not installed");
		return NULL;
	}
	/* Maps the file. */
	sigset_t	all;
	sigset_t	before;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	void	   *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (handle == NULL)
	{
		const char *why = dlerror();

		snprintf(reason, GP_CUDA_REASON, "could not load the GPU library: %s",
				 why ? why : "no reason given");
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (handle == NULL)
		return NULL;
	const gp_cuda_module *module = dlsym(handle, GP_CUDA_SYMBOL);
	if (!check_module(module, reason))
	{
		dlclose(handle);
		return NULL;
	}
	loaded = module;
	return loaded;
}
