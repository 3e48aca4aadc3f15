/*
 * Files of other programs that are not lists of videos.  Their lines would be
 * taken for paths and labels, and fail far from the cause or not at all, so
 * they are refused by what they are.
 */
#include <assert.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "ingest/list_format.h"

#define HEAD 4096		/* bytes at the beginning that tell a format */
#define ROWS(a) (sizeof(a) / sizeof(*(a)))

/*
 * A format of another program: a regular expression of its first bytes or of
 * each line, or texts that it contains, separated by blanks.  The first row
 * wins.
 */
struct list_foreign_row { const char *pattern, *title; };

static const struct list_foreign_row list_foreign_head[] = {
	{ "^[[:space:]]*<.*<ALL_INSTANCES", "Sportscode XML" },
	{ "^[[:space:]]*<.*<annotation>", "Anvil annotations in XML" },
	{ "^[[:space:]]*<(!DOCTYPE |!doctype |)(html|HTML)", "a web page" },
	{ "^[[:space:]]*<[?!]?[a-zA-Z-][^\n]*>", "XML" },
	{ "^[[:space:]]*[{[][[:space:]]*'", "a Python literal" },
	{ "^(---\r?\n|- [^\n]*: |[^\n,;\t]*:\r?\n[ \t]+)", "YAML" },
	{ "^WEBVTT", "WebVTT subtitles" },
	{ "^[0-9]+\r?\n[0-9:,.]+ --> ", "SubRip subtitles" },
	{ "^\"?filename\"?,\"?file_size\"?,", "VIA 2 CSV" },
	{ "^1-[0-9]+ +[^ 0-9\n][^\n]*\n[0-9]+-[0-9]+ +[^ 0-9\n]",
	    "Breakfast, frames of one video" },
	{ "^Bento annotation file", "BENTO annotations" },
	{ "^file,column,[^\n]*\\.ordinal,", "Datavyu CSV" },
	{ "^#[0-9]+\r?\n", "a Datavyu spreadsheet" },
	{ "^\"?(frame)?\"?,\"?background\"?,", "DeepEthogram labels of "
		"frames" },
	{ "^([^\n]*[,\t])?Tags,youtube_id|^youtube_id,([^\n]*,)?Tags",
		"HVU CSV" },
};

static const struct list_foreign_row list_foreign_binary[] = {
	{ "^PK\003\004", "a zip archive, such as .xlsx, .ods or .opf" },
	{ "^PAR1[[:cntrl:]]", "a Parquet file" },
	{ "^\211HDF", "an HDF5 file, such as .mat or .h5" },
	{ "^MATLAB 5\\.0 MAT-file", "a MATLAB file" },
	{ "^\200[\002-\005]", "a Python pickle" },
	{ "^\223NUMPY", "a NumPy array" },
	{ "^SQLite format 3", "an SQLite database" },
	{ "^%PDF-", "a PDF document" },
};

static const struct list_foreign_row list_foreign_lines_of[] = {
	{ "^[^,]+,[0-9.]+(,[01]?\\.?[0-9]*){4},[0-9]*(,[0-9]*)?$",
	    "AVA boxes of persons, which vt does not train on" },
	{ "^[^\t]*\t[^\t]*(\t[0-9:.]+){2,}\t[^\t]*$", "ELAN text" },
	{ "^[^ ]+ +[0-9]+\\.[0-9]+ +[0-9]+\\.[0-9]+$",
	    "THUMOS14, times of one class" },
};

static const struct list_foreign_row list_foreign_json[] = {
	{ "\"gameTime\"", "SoccerNet JSON" },
	{ "\"slots\"", "V7 JSON" },
	{ "\"framesCount\"", "Supervisely JSON" },
	{ "\"className\" \"instances\"", "SuperAnnotate JSON" },
	{ "\"gloss\" \"instances\"", "WLASL JSON" },
	{ "\"class_names\" \"splits\"", "FERAL JSON" },
	{ "\"timestamps\" \"labels\"", "FiftyOne JSON" },
	{ "\"support\" \"labels\"", "FiftyOne JSON" },
	{ "\"images\" \"annotations\" \"categories\"", "COCO JSON" },
	{ "", "JSON" },
};

/* Return 1 if all ${n} texts at ${s} match. */
static int
list_foreign_matches(const char *pattern, char *const *s, size_t n)
{
	regex_t re;
	size_t i = 0;
	int result = regcomp(&re, pattern, REG_EXTENDED | REG_NOSUB);

	assert(result == 0);
	while (i < n && regexec(&re, s[i], 0, NULL, 0) == 0)
		i++;
	regfree(&re);
	return n > 0 && i == n;
}

/* Return 1 if ${text} contains all the words of ${pattern}. */
static int
list_foreign_contains(const char *pattern, const char *text)
{
	char *copy = xstrdup(pattern), *rest = copy, *word;
	int result = 1;

	while (result && (word = strsep(&rest, " ")) != NULL)
		result = strstr(text, word) != NULL;
	free(copy);
	return result;
}

static int
list_foreign_refuse(const char *name, const char *title)
{
	fail("%s: line 1: %s (wanted lines of a video and its label, or a "
	    "header such as path,label,time_start,time_end): vt-lists(5) "
	    "shows how to convert other formats", name, title);
	return 1;
}

int
list_is_json(const char *text)
{
	const char *next;

	text += strspn(text, " \t\r\n");
	next = text + 1 + strspn(text + (*text != '\0'), " \t\r\n");
	/*
	 * A path may begin with a bracket, so check the character after it too.
	 */
	return (*text == '{' || *text == '[') && (*next == '"' ||
	    (*text == '{' && *next == '}') ||
	    (*text == '[' && (*next == '{' || *next == '[')));
}

int
list_is_xml(const char *text, const char *begin)
{
	text += strspn(text, " \t\r\n");
	while (*text == '<' && (text[1] == '?' || text[1] == '!') &&
	    strchr(text, '>') != NULL) {
		text = strchr(text, '>') + 1;
		text += strspn(text, " \t\r\n");
	}
	return text_starts(text, begin);
}

/* Refuse ${text} if it matches one of the ${n} rows ${k}.  Return 1 then. */
static int
list_foreign_refuse_one(const char *name, char *text,
    const struct list_foreign_row *k, size_t n)
{
	size_t i = 0;

	while (i < n && !list_foreign_matches(k[i].pattern, &text, 1))
		i++;
	return i < n && list_foreign_refuse(name, k[i].title);
}

int
list_foreign_read(const char *path, const char *name, const char *wanted,
    struct buffer *b)
{
	return file_read(path, b) != 0 || list_foreign_refuse_one(name, b->data,
	    list_foreign_binary, ROWS(list_foreign_binary)) ||
	    file_check_text(path, b, wanted) != 0 ? -1 : 0;
}

int
list_foreign(const char *name, const char *text)
{
	char *head;
	size_t i = 0;
	int result;

	if (list_is_json(text)) {
		while (!list_foreign_contains(list_foreign_json[i].pattern,
		    text))
			i++;
		return list_foreign_refuse(name, list_foreign_json[i].title);
	}
	head = xstrndup(text, strnlen(text, HEAD));
	result = list_foreign_refuse_one(name, head, list_foreign_head,
	    ROWS(list_foreign_head));
	free(head);
	return result;
}

/* Return 1 if the lines are words without a path, some twice in a row. */
static int
list_foreign_is_frames(const struct list_lines *l)
{
	int twice = 0;

	for (size_t i = 0; i < l->n; i++) {
		if (strpbrk(l->s[i], " \t,;./") != NULL)
			return 0;
		twice |= i > 0 && strcmp(l->s[i], l->s[i - 1]) == 0;
	}
	return twice;
}

int
list_foreign_lines(const struct list_reading *r)
{
	const struct list_lines *l = &r->lines;

	if (list_foreign_is_frames(l))
		return list_foreign_refuse(r->name,
		    "a label in each line, as for the frames of one video");
	for (size_t i = 0; i < ROWS(list_foreign_lines_of); i++)
		if (list_foreign_matches(list_foreign_lines_of[i].pattern,
		    l->s, l->n))
			return list_foreign_refuse(r->name,
			    list_foreign_lines_of[i].title);
	return 0;
}
