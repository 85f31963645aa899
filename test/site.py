"""site.py - a hook of mkdocs.yml: blocks marked "sql no-run" are blocks of SQL on the site, too."""
import re


def on_page_markdown(markdown, **_):
    return re.sub(r"^```sql no-run$", "```sql", markdown, flags=re.MULTILINE)
