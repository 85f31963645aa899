/*
 * identity.c - who the user is while tables that are not the extension's are read or written.
 *
 * Behind a table there may be code of anybody's: views, policies, triggers, domains.  It runs with the rights of
 * the role whose table it is, under SECURITY_RESTRICTED_OPERATION, which keeps it from becoming somebody else, and
 * on a level of settings of its own.  An abort sets the user and the settings back, too.  Statements on the
 * extension's own tables are run by catalog.c as the extension's owner.
 */
#include "postgres.h"

#include "identity.h"
#include "miscadmin.h"
#include "spi.h"
#include "utils/guc.h"

gnngp_identity
gnngp_become(Oid role)
{
	gnngp_identity saved;

	GetUserIdAndSecContext(&saved.user, &saved.context);
	SetUserIdAndSecContext(role, saved.context | SECURITY_RESTRICTED_OPERATION);
	saved.level = NewGUCNestLevel();
	return saved;
}

gnngp_identity
gnngp_become_owner(Oid owner)
{
	gnngp_identity saved = gnngp_become(owner);

	gnngp_pin("search_path", "pg_catalog, pg_temp");
	gnngp_pin("row_security", "on");
	return saved;
}

void
gnngp_become_again(const gnngp_identity *saved)
{
	AtEOXact_GUC(false, saved->level);
	SetUserIdAndSecContext(saved->user, saved->context);
}
