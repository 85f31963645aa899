/*
 * bench_env.h - the environment of the benchmarks: malloc, a clock, the end at the first error.
 */
#ifndef BENCH_ENV_H
#define BENCH_ENV_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/base.h"

/* A host without interrupts that gives up at the first error. */
static void *
bench_alloc(gp_env *env, size_t bytes)
{
	return aligned_alloc(64, (bytes + 63) / 64 * 64);
}

static void
bench_release(gp_env *env, void *p)
{
	free(p);
}

static bool
bench_pending(gp_env *env)
{
	return false;
}

static void
bench_check(gp_env *env)
{
}

static void
bench_check_stack(gp_env *env)
{
}

static void
bench_progress(gp_env *env, gp_phase phase, int64_t done, int64_t total)
{
}

static void
bench_raise(gp_env *env, gp_error code, int position, const char *message, const char *hint)
{
	fprintf(stderr, "%s\n", message);
	exit(1);
}

static void
bench_notice(gp_env *env, const char *message, const char *hint)
{
}

static void
bench_own(gp_env *env, void (*release) (void *), void *resource)
{
}

static void
bench_disown(gp_env *env, void *resource)
{
}

static gp_env host = {
	.host = &host,
	.alloc = bench_alloc,
	.release = bench_release,
	.interrupt_pending = bench_pending,
	.check_interrupts = bench_check,
	.check_stack = bench_check_stack,
	.progress = bench_progress,
	.raise = bench_raise,
	.notice = bench_notice,
	.own = bench_own,
	.disown = bench_disown
};

/* The time by a clock that only goes forward. */
static inline double
seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double) t.tv_sec + 1e-9 * (double) t.tv_nsec;
}

#endif							/* BENCH_ENV_H */
