/*
 * settings.c - the settings with the prefix gnngp.
 *
 * A session can set any name with a dot before the library is loaded.  A value
 * that the check hook then rejected would be dropped with a warning, and the
 * computation run on some other device; it is kept, and refused when it is used.
 *
 * The same holds for the limits, which are the administrator's.  What a connection
 * brings along takes the place of the configured value, and is refused only when the
 * library is loaded: the limit is not known then, and nothing computes.
 */
#include "postgres.h"

#include <limits.h>
#include <sched.h>
#include <unistd.h>

#include "miscadmin.h"
#include "raise.h"
#include "settings.h"
#include "storage/fd.h"
#include "utils/guc_tables.h"

PG_MODULE_MAGIC;

extern PGDLLEXPORT void _PG_init(void);

#define SMALLEST_LIMIT 1024		/* kB */
#define MOST_THREADS 1024
#define DEVICE_HINT "Valid values are auto, cpu and cuda."

static char *device_setting = NULL;
static bool defining = false;
static bool option_taken = false;
static const char *lost_limit = NULL;
void		(*gnngp_cache_size_changed) (size_t most) = NULL;
bool		gnngp_setting_refresh_guard = false;
int			gnngp_setting_gpu = 0;
double		gnngp_setting_gpu_start_cost = 0.5;
bool		gnngp_setting_tf32 = false;
static int	threads_setting = 0;
static int	max_threads_setting = 0;
static int	memory_limit_setting = 0;
static int	link_cache_size_setting = 0;
static bool dump_live_state_setting = true;	/* read by the condition of gp_block's dump */
static int	gpu_memory_limit_setting = 0;

/* Translates a device's name; false when there is no such device. */
static bool
parse_device(const char *value, gnngp_device_choice *choice)
{
	static const char *const names[] = {"auto", "cpu", "cuda"};

	for (int i = 0; value != NULL && i < (int) lengthof(names); i++)
		if (pg_strcasecmp(value, names[i]) == 0)
		{
			*choice = (gnngp_device_choice) i;
			return true;
		}
	return false;
}

/* Refuses a misspelt device when it is set, but not one from before the library was loaded. */
static bool
check_device(char **newval, void **extra, GucSource source)
{
	gnngp_device_choice choice;

	if (defining || parse_device(*newval, &choice))
		return true;
	GUC_check_errhint(DEVICE_HINT);
	return false;
}

/* Notes that a value of the connection's options has come so far; only permitted ones do. */
static bool
check_limit(int *newval, void **extra, GucSource source)
{
	if (source == PGC_S_CLIENT)
		option_taken = true;
	return true;
}

/* Refuses limits under which not even a kernel could be read. */
static bool
check_memory_limit(int *newval, void **extra, GucSource source)
{
	if (*newval == 0 || *newval >= SMALLEST_LIMIT)
		return check_limit(newval, extra, source);
	GUC_check_errdetail("The smallest limit is %dkB.", SMALLEST_LIMIT);
	GUC_check_errhint("0 means a quarter of the machine's memory or of the control group's limit.");
	return false;
}

/* Frees what is kept and is too large now. */
static void
assign_link_cache_size(int newval, void *extra)
{
	if (gnngp_cache_size_changed)
		gnngp_cache_size_changed((size_t) newval * 1024);
}

/* The setting of a name, or what was given to the name so far; NULL when there is none. */
static struct config_generic *
find_setting(const char *name)
{
#if PG_VERSION_NUM >= 160000
	return find_option(name, false, true, 0);
#else
	struct config_generic **all = get_guc_variables();

	for (int i = 0; i < GetNumConfigOptions(); i++)
		if (pg_strcasecmp(all[i]->name, name) == 0)
			return all[i];
	return NULL;
#endif
}

/*
 * Defines a limit: 0 by default, and for superusers to set.
 *
 * An option of the connection that is not permitted has overwritten what the
 * configuration says.
 */
static void
define_limit(const char *name, const char *what, const char *more, int *variable, int most,
			 int flags, GucIntCheckHook check)
{
	const struct config_generic *before = find_setting(name);
	bool		by_option = before != NULL && before->reset_source == PGC_S_CLIENT;

	option_taken = false;
	DefineCustomIntVariable(name, what, more, variable, 0, 0, most, PGC_SUSET, flags, check, NULL,
							NULL);
	if (by_option && !option_taken)
		lost_limit = name;
}

static void
define_gpu_settings(void)
{
	DefineCustomIntVariable("gnngp.gpu",
							"The number of the GPU to compute on, as CUDA counts.",
							"gp_device() lists them.",
							&gnngp_setting_gpu, 0, 0, 1023, PGC_USERSET, 0,
							NULL, NULL, NULL);
	define_limit("gnngp.gpu_memory_limit",
				 "Memory that one backend may use on a GPU.",
				 "0 means what is free there.",
				 &gpu_memory_limit_setting, MAX_KILOBYTES, GUC_UNIT_KB, check_limit);
	DefineCustomRealVariable("gnngp.gpu_start_cost",
							 "The planner's estimate of the time that it takes to start a GPU.",
							 "With gnngp.device = auto a fit must be expected to gain more than that.",
							 &gnngp_setting_gpu_start_cost, 0.5, 0.0, 1e6, PGC_USERSET, GUC_UNIT_S,
							 NULL, NULL, NULL);
	DefineCustomBoolVariable("gnngp.tf32",
							 "Lets products of single precision round their factors to TF32 on a GPU.",
							 "They keep ten bits behind the point and are faster.",
							 &gnngp_setting_tf32, false, PGC_USERSET, 0,
							 NULL, NULL, NULL);
}

/*
 * What the server calls when it loads the library: settings are defined, and nothing else.  BLAS
 * and its threads come with the first computation, so that a preloaded library starts no thread in
 * the postmaster.  A warning about a setting serves interrupts; a cancel then would leave a library
 * that is half loaded, and that the session could never load again.
 */
void
_PG_init(void)
{
	HOLD_INTERRUPTS();
	defining = true;
	DefineCustomStringVariable("gnngp.device",
							   "Where kernels are computed: auto, cpu or cuda.",
							   "auto takes a GPU where a fit is expected to gain by it.",
							   &device_setting, "auto", PGC_USERSET, 0,
							   check_device, NULL, NULL);
	defining = false;
	DefineCustomIntVariable("gnngp.threads",
							"Threads that one computation may use.",
							"0 means max_parallel_maintenance_workers + 1; more than gnngp.max_threads has no effect.",
							&threads_setting, 0, 0, MOST_THREADS, PGC_USERSET, 0,
							NULL, NULL, NULL);
	define_limit("gnngp.max_threads",
				 "Threads that one computation may use, whatever gnngp.threads says.",
				 "0 means the processors that the backend may use, which are the most in any case.",
				 &max_threads_setting, MOST_THREADS, 0, check_limit);
	define_limit("gnngp.memory_limit",
				 "Memory that one backend may use for its computations.",
				 "0 means a quarter of the machine's memory or of the control group's limit.",
				 &memory_limit_setting, MAX_KILOBYTES, GUC_UNIT_KB, check_memory_limit);
	DefineCustomIntVariable("gnngp.link_cache_size",
							"Memory in which a backend keeps the link model or live state of its last call for few nodes.",
							"A larger one is read again for each call; 0 keeps none.",
							&link_cache_size_setting, 128 * 1024, 0, MAX_KILOBYTES, PGC_USERSET,
							GUC_UNIT_KB, NULL, assign_link_cache_size, NULL);
	DefineCustomBoolVariable("gnngp.refresh_guard",
							 "Keeps a model when a refresh would lose more than half of its nodes, edges or labels.",
							 "The refresh then ends with an error, and as refused in the view gp_refreshes.",
							 &gnngp_setting_refresh_guard, false, PGC_USERSET, 0,
							 NULL, NULL, NULL);
	DefineCustomBoolVariable("gnngp.dump_live_state",
							 "Puts the live states of models into a dump that this session writes.",
							 "Without them gp_refresh makes them again after a restore.",
							 &dump_live_state_setting, true, PGC_USERSET, 0,
							 NULL, NULL, NULL);
	define_gpu_settings();
	MarkGUCPrefixReserved("gnngp");
	RESUME_INTERRUPTS();
}

gnngp_device_choice
gnngp_setting_device(void)
{
	gnngp_device_choice choice;

	if (!parse_device(device_setting, &choice))
		gnngp_raise(INVALID_PARAMETER_VALUE, DEVICE_HINT,
					"invalid value for parameter \"%s\": \"%s\"", "gnngp.device",
					device_setting ? device_setting : "");
	return choice;
}

/* Refuses to compute without the limit that the administrator may have set. */
static void
refuse_lost_limit(void)
{
	if (lost_limit != NULL)
		gnngp_raise_detail(INSUFFICIENT_PRIVILEGE, "An option of this connection replaced the configured value.",
						   "Connect without that option.",
						   "permission denied to set parameter \"%s\"", lost_limit);
}

/*
 * The limit is applied here and not when gnngp.threads is set: the one may be lowered
 * after the other was raised, and a value from before the library was loaded has
 * passed no check.
 */
int
gnngp_setting_threads(void)
{
	int			threads = threads_setting;
	cpu_set_t	set;
	int			processors = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) :
		Max((int) sysconf(_SC_NPROCESSORS_ONLN), 0);	/* 0 when the system does not say */

	refuse_lost_limit();
	if (threads == 0)
		threads = max_parallel_maintenance_workers + 1;
	if (max_threads_setting > 0)
		threads = Min(threads, max_threads_setting);
	if (processors > 0)
		threads = Min(threads, processors);
	return Max(threads, 1);
}

size_t
gnngp_setting_link_cache_size(void)
{
	return (size_t) link_cache_size_setting * 1024;
}

size_t
gnngp_setting_gpu_memory_limit(void)
{
	refuse_lost_limit();
	return (size_t) gpu_memory_limit_setting * 1024;
}

/* The smallest limit of a control group and its ancestors, or limit; name: memory.max or so. */
static uint64
group_limit(const char *root, char *group, const char *name, uint64 limit)
{
	char		path[MAXPGPATH];

	for (;;)
	{
		char	   *slash = strrchr(group, '/');
		unsigned long long found = 0;

		snprintf(path, sizeof(path), "%s%s/%s", root, group, name);
		FILE	   *file = AllocateFile(path, "r");
		if (file && fscanf(file, "%llu", &found) == 1 && found > 0)
			limit = Min(limit, found);
		if (file)
			FreeFile(file);
		if (slash == NULL)
			return limit;
		*slash = '\0';
	}
}

/* The smaller of the machine's memory and the limits of our control groups. */
static uint64
available_memory(void)
{
	long		pages = sysconf(_SC_PHYS_PAGES);
	uint64		limit = pages > 0 ? (uint64) pages * sysconf(_SC_PAGESIZE) : UINT64_C(1) << 32;
	FILE	   *file = AllocateFile("/proc/self/cgroup", "r");
	char		line[MAXPGPATH];

	if (file == NULL)
		return limit;
	while (fgets(line, sizeof(line), file) != NULL)
	{
		char	   *controllers = strchr(line, ':');
		char	   *group = controllers ? strchr(controllers + 1, ':') : NULL;

		if (group == NULL)
			continue;
		*group++ = '\0';
		group[strcspn(group, "\n")] = '\0';
		if (controllers[1] == '\0')
			limit = group_limit("/sys/fs/cgroup", group, "memory.max", limit);
		else if (strstr(controllers + 1, "memory") != NULL)
			limit = group_limit("/sys/fs/cgroup/memory", group, "memory.limit_in_bytes", limit);
	}
	FreeFile(file);
	return limit;
}

size_t
gnngp_setting_memory_limit(void)
{
	static uint64 available = 0;

	refuse_lost_limit();
	if (memory_limit_setting > 0)
		return (size_t) memory_limit_setting * 1024;
	if (available == 0)
		available = available_memory();
	return (size_t) (available / 4);
}
