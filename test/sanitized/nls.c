/*
 * nls.c - messages are not translated: some C libraries, once the sanitizer runs before main, wait for
 * ever for a lock of theirs when a program says where its translations are.
 */
char *
bindtextdomain(const char *domain, const char *folder)
{
	return (char *) folder;
}

char *
bind_textdomain_codeset(const char *domain, const char *codeset)
{
	return (char *) codeset;
}

char *
textdomain(const char *domain)
{
	return (char *) domain;
}
