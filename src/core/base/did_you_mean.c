/*
 * did_you_mean.c - the name that was perhaps meant by one that stands for nothing.
 *
 * Names are compared by the letters to put in, to leave out, to replace, or to swap with the
 * next one (the distance of Damerau and Levenshtein, no piece being changed twice).  Who asks
 * goes through the names that could stand there; the first of the nearest ones is told, when
 * more of what was written is right than wrong.
 */
#include "names.h"

#define MOST_LETTERS 62			/* names of SQL have one more at most */
#define MOST_WRONG 3

/* True when the last two letters of both pieces are the same ones, swapped. */
static bool
swapped(const char *a, int i, const char *b, int j)
{
	return i > 1 && j > 1 && gp_lower(a[i - 1]) == gp_lower(b[j - 2]) &&
		gp_lower(a[i - 2]) == gp_lower(b[j - 1]);
}

gp_meant
gp_meant_start(const char *written, int length)
{
	int			wrong = (length - 1) / 2 < MOST_WRONG ? (length - 1) / 2 : MOST_WRONG;

	return (gp_meant) {.written = written,.length = length,.below = length > MOST_LETTERS ? 0
					   : wrong + 1};
}

void
gp_meant_consider(gp_meant *meant, const char *name)
{
	size_t		length = strlen(name);

	if (meant->below == 0 || length > MOST_LETTERS)
		return;
	/* The changes that make b of a; each is up to MOST_LETTERS long */
	int nb = (int) length;
	unsigned char at[MOST_LETTERS + 1][MOST_LETTERS + 1];

	for (int i = 0; i <= meant->length; i++)
		for (int j = 0; j <= nb; j++)
		{
			int			least = i + j;

			if (i > 0 && j > 0)
				least = at[i - 1][j - 1] +
					(gp_lower(meant->written[i - 1]) != gp_lower(name[j - 1]));
			if (i > 0 && at[i - 1][j] + 1 < least)
				least = at[i - 1][j] + 1;
			if (j > 0 && at[i][j - 1] + 1 < least)
				least = at[i][j - 1] + 1;
			if (swapped(meant->written, i, name, j) && at[i - 2][j - 2] + 1 < least)
				least = at[i - 2][j - 2] + 1;
			at[i][j] = (unsigned char) least;
		}
	int			d = at[meant->length][nb];
	bool		begun = false;

	/* A name is often cut short, if it is long with a letter wrong, too */
	for (int j = 0; j < nb; j++)
	{
		int			cut = at[meant->length][j] + 1;

		begun = begun || cut == 1;
		if (cut < d && cut <= (meant->length > 4 ? 2 : 1))
			d = cut;
	}
	if (d < meant->below || (begun && meant->length > 1 && meant->name == NULL))
	{
		meant->below = d;
		meant->name = name;
	}
}
