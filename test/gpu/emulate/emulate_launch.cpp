/*
 * emulate_launch.cpp - kernels: the threads of a block as fibers.
 *
 * A fiber runs one thread of a block after the other, and keeps on doing so
 * while none waits: a kernel without barriers needs one fiber.  A thread that
 * waits keeps its fiber, and another fiber goes on with the threads that are
 * left.  Warp operations end when all living lanes of their mask have come,
 * barriers when all living threads of the block have; if neither can happen, the
 * kernel would hang on a card, and the program ends with a message.
 *
 * The address sanitizer does not know the fibers: it watches their stacks all the
 * same, and only its reports don't say whose stack an address is on.
 */
#include "emulate.h"

#include <stdio.h>
#include <sys/mman.h>
#include <ucontext.h>

#define MOST_THREADS 1024
#define WARP 32
#define STACK ((size_t) 256 << 10)
#define GUARD ((size_t) 4096)

/* A stack of its own; what it runs is in `threads`. */
typedef struct fiber
{
	char	   *stack;			/* above the guard page */
	void	   *sp;				/* x86-64: where it goes on */
	ucontext_t	context;		/* elsewhere */
	fiber	   *next;			/* in a list */
	uint3		thread;			/* threadIdx */
	unsigned int linear;		/* its number in the block */
	uint64_t	result;			/* of its warp operation */
} fiber;

/* A list of fibers, oldest first. */
typedef struct queue
{
	fiber	   *first;
	fiber	   *last;
} queue;

/* What a waiting lane asks for. */
typedef struct lane
{
	fiber	   *who;
	gp_emulated_shuffle kind;
	unsigned int mask;
	unsigned int arg;
	uint64_t	bits;
} lane;

/* One warp of the block that runs. */
typedef struct warp
{
	unsigned int live;			/* lanes that have not ended, begun or not */
	unsigned int waiting;
	lane		lanes[WARP];
} warp;

uint3		threadIdx;
uint3		blockIdx;
dim3		blockDim;
dim3		gridDim;

/* The block that runs. */
static warp warps[MOST_THREADS / WARP];
static void (*thread_body) (void *);
static void *thread_arg;
static unsigned int nthreads;
static unsigned int begun;
static unsigned int live;
static unsigned int at_barrier;
static queue barrier;
static queue ready;
static fiber *idle;				/* fibers without a thread */
static fiber *current;			/* NULL in the scheduler */
static fiber scheduler;			/* the stack that launches */
static int	nfibers;

/* Adds a fiber at the end of a list. */
static void
push(queue *q, fiber *f)
{
	f->next = NULL;
	if (q->last != NULL)
		q->last->next = f;
	else
		q->first = f;
	q->last = f;
}

/* Takes the first. */
static fiber *
pop(queue *q)
{
	fiber	   *f = q->first;

	q->first = f->next;
	if (q->first == NULL)
		q->last = NULL;
	return f;
}

#if defined(__x86_64__)
/* Saves the registers that calls keep on this stack, and goes on where the other stands. */
extern "C" void gp_emulated_switch(void **from, void *to);

__asm__(".text\n"
		".local gp_emulated_switch\n"
		".type gp_emulated_switch,@function\n"
		"gp_emulated_switch:\n"
		"	pushq %rbp\n"
		"	pushq %rbx\n"
		"	pushq %r12\n"
		"	pushq %r13\n"
		"	pushq %r14\n"
		"	pushq %r15\n"
		"	movq %rsp, (%rdi)\n"
		"	movq %rsi, %rsp\n"
		"	popq %r15\n"
		"	popq %r14\n"
		"	popq %r13\n"
		"	popq %r12\n"
		"	popq %rbx\n"
		"	popq %rbp\n"
		"	ret\n"
		".size gp_emulated_switch,.-gp_emulated_switch\n");
#endif

/* Goes from one stack to another. */
static void
switch_to(fiber *from, fiber *to)
{
#if defined(__x86_64__)
	gp_emulated_switch(&from->sp, to->sp);
#else
	swapcontext(&from->context, &to->context);
#endif
}

static fiber *take_fiber(void);

/* The fiber that goes on: one that waited for what has come, or one for the next thread. */
static fiber *
next_fiber(void)
{
	if (ready.first != NULL)
		return pop(&ready);
	return begun < nthreads ? take_fiber() : NULL;
}

/* Leaves the thread that runs; somebody has put its fiber into a list. */
static void
wait_here(void)
{
	fiber	   *self = current;

	current = next_fiber();
	switch_to(self, current != NULL ? current : &scheduler);
	threadIdx = self->thread;
}

/* What a lane of a complete warp operation gets. */
static uint64_t
lane_result(const warp *w, unsigned int l)
{
	const lane *a = &w->lanes[l];
	unsigned int from = l;

	switch (a->kind)
	{
		case GP_EMULATED_SYNC:
			return 0;
		case GP_EMULATED_INDEX:
			from = a->arg % WARP;
			break;
		case GP_EMULATED_XOR:
			from = (l ^ a->arg) % WARP;
			break;
		case GP_EMULATED_DOWN:
			from = l + a->arg < WARP ? l + a->arg : l;
			break;
		case GP_EMULATED_UP:
			from = l >= a->arg ? l - a->arg : l;
			break;
	}
	/* A lane that has ended or is not in the mask has no defined value. */
	return a->mask & w->live & (1u << from) ? w->lanes[from].bits : ~UINT64_C(0);
}

/* Ends a warp operation for which all lanes have come. */
static void
complete(warp *w, unsigned int need)
{
	const lane *first = &w->lanes[__builtin_ctz(need)];

	for (unsigned int l = 0; l < WARP; l++)
		if (need >> l & 1)
		{
			if (w->lanes[l].mask != first->mask || w->lanes[l].kind != first->kind)
				gp_emulated_stop("lanes of a warp meet in different operations (block %u, %u, %u)",
								 blockIdx.x, blockIdx.y, blockIdx.z);
			w->lanes[l].who->result = lane_result(w, l);
		}
	w->waiting &= ~need;
	for (unsigned int l = 0; l < WARP; l++)
		if (need >> l & 1 && w->lanes[l].who != current)
			push(&ready, w->lanes[l].who);
}

/* A lane has ended: operations may have all their lanes now. */
static void
complete_rest(warp *w)
{
	for (unsigned int left = w->waiting; left != 0;)
	{
		unsigned int need = w->lanes[__builtin_ctz(left)].mask & w->live;

		left &= ~need;
		if ((need & ~w->waiting) == 0)
			complete(w, need);
	}
}

/* An operation of a warp. */
uint64_t
gp_emulated_exchange(gp_emulated_shuffle kind, unsigned int mask, uint64_t bits, unsigned int arg)
{
	fiber	   *self = current;
	warp	   *w = &warps[self->linear / WARP];
	unsigned int l = self->linear % WARP;
	unsigned int need = mask & w->live;

	if (!(mask >> l & 1))
		gp_emulated_stop("lane %u calls a warp operation whose mask %x leaves it out", l, mask);
	w->lanes[l] = lane{self, kind, mask, arg, bits};
	w->waiting |= 1u << l;
	if ((need & ~w->waiting) == 0)
		complete(w, need);
	else
		wait_here();
	return self->result;
}

/* The barrier of a block. */
void
__syncthreads(void)
{
	at_barrier++;
	if (at_barrier == live)
	{
		at_barrier = 0;
		while (barrier.first != NULL)
			push(&ready, pop(&barrier));
		return;
	}
	push(&barrier, current);
	wait_here();
}

/* Gives a fiber the next thread of the block. */
static void
begin_thread(fiber *f)
{
	unsigned int t = gp_emulated.reverse ? nthreads - 1 - begun : begun;

	begun++;
	f->linear = t;
	if (nthreads == blockDim.x)
		f->thread = uint3{t, 0, 0};
	else
		f->thread = uint3{t % blockDim.x, t / blockDim.x % blockDim.y, t / (blockDim.x * blockDim.y)};
	threadIdx = f->thread;
}

/* A thread has ended: others may have waited for that. */
static void
end_thread(fiber *f)
{
	warp	   *w = &warps[f->linear / WARP];

	live--;
	w->live &= ~(1u << f->linear % WARP);
	if (w->waiting != 0)
		complete_rest(w);
	if (live > 0 && at_barrier == live)
	{
		at_barrier = 0;
		while (barrier.first != NULL)
			push(&ready, pop(&barrier));
	}
}

/* What a fiber does for ever. */
static void
fiber_main(void)
{
	fiber	   *self = current;

	for (;;)
	{
		while (begun < nthreads)
		{
			begin_thread(self);
			thread_body(thread_arg);
			end_thread(self);
		}
		self->next = idle;
		idle = self;
		wait_here();
	}
}

/* A fiber without a thread, made when there is none. */
static fiber *
take_fiber(void)
{
	fiber	   *f = idle;
	char	   *memory;

	if (f != NULL)
	{
		idle = f->next;
		return f;
	}
	memory = (char *) mmap(NULL, STACK + GUARD, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
						   -1, 0);
	if (memory == (char *) MAP_FAILED || mprotect(memory, GUARD, PROT_NONE) != 0)
		gp_emulated_stop("no memory for a stack");
	f = new fiber();
	f->stack = memory + GUARD;
#if defined(__x86_64__)
	/* Tops at different places of a page, so that they do not share lines of the cache. */
	void	  **top = (void **) (f->stack + STACK - 72 - (size_t) (nfibers % 32) * 128);

	top[0] = NULL;				/* where fiber_main would return to */
	top[-1] = (void *) fiber_main;
	f->sp = top - 7;
#else
	getcontext(&f->context);
	f->context.uc_stack.ss_sp = f->stack;
	f->context.uc_stack.ss_size = STACK;
	makecontext(&f->context, fiber_main, 0);
#endif
	nfibers++;
	return f;
}

/* Says which threads wait for ever. */
static void
report_hang(void)
{
	unsigned int lanes = 0;

	for (unsigned int w = 0; w < (nthreads + WARP - 1) / WARP; w++)
		lanes += (unsigned int) __builtin_popcount(warps[w].waiting);
	gp_emulated_stop("a kernel would hang: in block %u, %u, %u of %u threads %u live, %u of them wait at __syncthreads, "
					 "%u in operations of warps", blockIdx.x, blockIdx.y, blockIdx.z, nthreads, live, at_barrier, lanes);
}

/* Runs one block. */
static void
run_block(void)
{
	begun = 0;
	live = nthreads;
	at_barrier = 0;
	for (unsigned int w = 0; w * WARP < nthreads; w++)
	{
		unsigned int n = nthreads - w * WARP;

		warps[w].live = n >= WARP ? ~0u : (1u << n) - 1;
		warps[w].waiting = 0;
	}
	while (live > 0)
	{
		current = next_fiber();
		if (current == NULL)
			report_hang();
		switch_to(&scheduler, current);
	}
}

/* Runs all blocks of a grid. */
void
gp_emulated_grid(dim3 grid, dim3 block, void (*thread) (void *), void *arg)
{
	size_t		n = (size_t) grid.x * grid.y * grid.z;

	if (current != NULL)
		gp_emulated_stop("a kernel launches a kernel");
	thread_body = thread;
	thread_arg = arg;
	nthreads = block.x * block.y * block.z;
	blockDim = block;
	gridDim = grid;
	for (size_t i = 0; i < n; i++)
	{
		size_t		b = gp_emulated.reverse ? n - 1 - i : i;

		blockIdx.x = (unsigned int) (b % grid.x);
		blockIdx.y = (unsigned int) (b / grid.x % grid.y);
		blockIdx.z = (unsigned int) (b / ((size_t) grid.x * grid.y));
		run_block();
	}
}

/* False when a kernel's arguments hold an address of host memory. */
static bool
check_arguments(const void *arguments, size_t bytes)
{
	for (size_t at = 0; at + sizeof(void *) <= bytes; at += sizeof(void *))
	{
		void	   *p;

		memcpy(&p, (const char *) arguments + at, sizeof(p));
		if (gp_emulated_is_host(p))
		{
			gp_emulated_complain("a kernel is given %p, which is memory of the host (byte %zu of its arguments)", p, at);
			return false;
		}
	}
	return true;
}

/* False, with an error to be asked for, when a grid can't be launched. */
bool
gp_emulated_may_launch(dim3 grid, dim3 block, cudaStream_t stream, const void *arguments, size_t bytes)
{
	uint64_t	threads = (uint64_t) block.x * block.y * block.z;

	if (gp_emulated_enter() != cudaSuccess)
		return false;
	if (!gp_emulated.image)
	{
		gp_emulated_result(cudaErrorNoKernelImageForDevice);
		return false;
	}
	if (!check_arguments(arguments, bytes))
	{
		gp_emulated_result(cudaErrorIllegalAddress);
		return false;
	}
	if (threads == 0 || threads > MOST_THREADS || block.x > 1024 || block.y > 1024 || block.z > 64 ||
		grid.x == 0 || grid.y == 0 || grid.z == 0 || grid.x > 2147483647u || grid.y > 65535 ||
		grid.z > 65535 || !gp_emulated_is_stream(stream))
	{
		gp_emulated_complain("a launch of %u x %u x %u blocks of %u x %u x %u threads", grid.x, grid.y, grid.z,
							 block.x, block.y, block.z);
		gp_emulated_result(cudaErrorInvalidValue);
		return false;
	}
	return true;
}
