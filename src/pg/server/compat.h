/*
 * compat.h - what differs between the servers from PostgreSQL 15 on.
 *
 * The rest is written for the newest server.  What older ones lack is defined
 * here; what changed its arguments has a name of its own.
 */
#ifndef GNNGP_COMPAT_H
#define GNNGP_COMPAT_H

#include "postgres.h"

#include "catalog/pg_namespace_d.h"

/*
 * 16 moved VARDATA and its like out of postgres.h, collects errors of input, and
 * tells members of a role from those who may become it.
 */
#if PG_VERSION_NUM >= 160000
#include "nodes/miscnodes.h"
#include "varatt.h"
#define GNNGP_NO_ERROR ((Node *) &(ErrorSaveContext) {.type = T_ErrorSaveContext})
#define gnngp_check_can_become(member, role) check_can_set_role(member, role)
#define gnngp_namespace_usable(schema, role) \
	(object_aclcheck(NamespaceRelationId, schema, role, ACL_USAGE) == ACLCHECK_OK)
#else
#define GNNGP_NO_ERROR true
#define pgstat_get_local_beentry_by_index(i) pgstat_fetch_stat_local_beentry(i)
#define gnngp_check_can_become(member, role) check_is_member_of_role(member, role)
#define gnngp_namespace_usable(schema, role) \
	(pg_namespace_aclcheck(schema, role, ACL_USAGE) == ACLCHECK_OK)
#endif

/* 17 asks whether a stronger lock will do. */
#if PG_VERSION_NUM >= 170000
#define gnngp_lock_held(tag, mode) LockHeldByMe(tag, mode, false)
#else
#define gnngp_lock_held(tag, mode) LockHeldByMe(tag, mode)
#endif

/* 18 has C's own word, which stands before a declaration, and asks for room before a tuple. */
#if PG_VERSION_NUM >= 180000
#define gnngp_minimal_tuple(desc, values, nulls) heap_form_minimal_tuple(desc, values, nulls, 0)
#else
#define pg_noreturn pg_attribute_noreturn()
#define gnngp_minimal_tuple(desc, values, nulls) heap_form_minimal_tuple(desc, values, nulls)
#endif

#endif
