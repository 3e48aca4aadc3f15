/*
 * Lists of videos as users and datasets write them are read or refused with the
 * line; labels become class numbers, by names, class files or folders.
 */
#include "shard/tally.h"
#include "list_read.h"

static void
test_path_label(void)
{
	reads("path and label", "a.mp4 3\nb/c.avi 0\n", "auto", "a.mp4|3 b/c.avi|0");
	check_read("paths relative to a root", "list",
	    "a.mp4 3\n/b.avi 0\n", "auto", "r/s", NULL,
	    "r/s/a.mp4|3 /b.avi|0");
	reads("paths alone", "a.mp4\nb.mp4\n", "auto", "a.mp4 b.mp4");
	reads("path, frames, label", "a.mp4 300 3\n", "auto", "a.mp4|3");
	reads("blanks in paths", "my dir/a b.mp4 3\nc d.mp4 4\n",
	    "auto", "my dir/a b.mp4|3 c d.mp4|4");
	reads("blanks in paths, with frames",
	    "my dir/a b.mp4 30 3\nc d.mp4 120 4\n",
	    "auto", "my dir/a b.mp4|3 c d.mp4|4");
	refuses("two labels, not frames and a label, are refused",
	    "a.mp4 4 1\nb.mp4 0 4\n",
	    "auto", "list: line 2: 0 frames before the label 4 (wanted the "
	    "frames of the video; --annotations-format=mmaction2 for several");
	reads("two numbers are read if the format is named",
	    "a.mp4 4 1\nb.mp4 0 4\n",
	    "path-label", "a.mp4|1 b.mp4|4");
	refuses("two labels between commas are refused",
	    "a.mp4,0,4\n", "auto",
	    "line 1: 0 frames before the label 4");
	reads("named format: frames in some lines only",
	    "a b.mp4 3\nc d.mp4 120 4\n", "path-label", "a b.mp4|3 c d.mp4|4");
	reads("a number in the path", "take 3.mp4 7\n", "auto", "take 3.mp4|7");
	reads("runs of blanks, CR LF, no newline at the end",
	    "a.mp4  \t 3 \r\n\r\nb.mp4 1", "auto", "a.mp4|3 b.mp4|1");
	reads("commas", "a b.mp4,3\nc.mp4,x y\n", "auto", "a b.mp4|3 c.mp4|x y");
	reads("tabs, three fields", "a.mp4\t9\tjump\n", "auto", "a.mp4|jump");
	reads("semicolons", "a.mp4;3\n", "auto", "a.mp4|3");
	reads("quotes", "\"a,\"\"b\"\".mp4\",3\n", "auto", "a,\"b\".mp4|3");
	reads("names as labels", "a.mp4 run\nb.mp4 walk\n", "auto", "a.mp4|run b.mp4|walk");
	reads("nothing", "", "auto", "");
	refuses("four fields are refused",
	    "a.mp4,1,2,3\n", "auto", "line 1: 4 fields");
	refuses("a line without a path is refused", "a.mp4,1\n,2\n", "auto",
	    "line 2: no path");
}

static void
test_csv(void)
{
	check_read("CSV with a header", "list",
	    "path,label,n\na.mp4,run,7\n", "auto", "v", NULL,
	    "v/a.mp4|run");
	reads("CSV: other names, other order, a byte order mark",
	    "\357\273\277Class\tVideo\n"
	    "run\ta.mp4\n", "auto", "a.mp4|run");
	reads("CSV: label is preferred to label_id",
	    "file;label_id;label\na;5;walk\n",
	    "auto", "a|walk");
	reads("CSV: label_id alone",
	    "file;label_id\na;5\n", "auto", "a|5");
	reads("CSV: no label column", "path,n\na.mp4,7\n", "csv", "a.mp4");
	reads("a table of vt", "#path\tlabel\na b.mp4\t2\n", "auto", "a b.mp4|2");
	refuses("CSV: a short row is refused",
	    "n,path,label\n1,a.mp4,x\n2,b.mp4\n", "auto",
	    "line 3: 2 cells (wanted 3, one for each column up to label)");
	refuses("CSV: no header is refused",
	    "a.mp4,1\n", "csv", "no header");
}

static void
test_kinetics(void)
{
	char path[600];
	struct list l = { 0 };

	check_read("flat", "list", "label,youtube_id,time_start,time_end,split\n"
	    "\"juggling balls\",Ab-_1,12,22,train\n", "auto", "k", NULL,
	    "k/Ab-_1_000012_000022.mp4|juggling balls");
	reads("Kinetics without labels",
	    "youtube_id,time_start,time_end,split\n"
	    "xyz,0,10,test\n", "auto", "xyz_000000_000010.mp4");
	refuses("Kinetics: a row without times is refused",
	    "label,youtube_id,time_start,time_end\n"
	    "x,y,1\n", "kinetics",
	    "line 2: 3 cells (wanted 4, one for each column up to time_end)");
	refuses("Kinetics: a time that is not a number is refused",
	    "label,youtube_id,time_start,time_end\n"
	    "x,y,1,soon\n", "kinetics", "line 2: time_end soon");
	refuses("Kinetics: an end before the start is refused",
	    "label,youtube_id,time_start,"
	    "time_end\nx,y,12,3\n", "kinetics", "line 2: time_end 3 (wanted "
	    "a time after 12, or nothing for the end");
	refuses("Kinetics: another header is refused",
	    "path,label\n", "kinetics",
	    "no header of Kinetics");
	snprintf(path, sizeof(path), "%s/juggling_balls", dir);
	mkdir(path, 0700);
	put("juggling_balls/A_000001_000011.mp4", "x");
	list_read(&l, put("list", "label,youtube_id,time_start,time_end\n"
	    "juggling balls,A,1,11\n"), &(struct list_how){ .format = 0, .root = dir });
	snprintf(path, sizeof(path), "%s/juggling_balls/A_000001_000011.mp4",
	    dir);
	is_text(l.row[0].path, path,
	    "Kinetics: a video in a folder of its class");
	list_free(&l);
	unlink(path);
	*strrchr(path, '/') = '\0';
	rmdir(path);
}

static void
test_ucf101(void)
{
	check_read("UCF101: numbers count from 1", "list",
	    "Archery/v_Archery_g08_c01.avi 3\n"
	    "Archery/v_Archery_g08_c02.avi 1\n", "auto", "u", NULL,
	    "u/Archery/v_Archery_g08_c01.avi|3 "
	    "u/Archery/v_Archery_g08_c02.avi|1");
	reads("UCF101: a test list",
	    "Archery/v_Archery_g01_c01.avi\r\n", "auto",
	    "Archery/v_Archery_g01_c01.avi|Archery");
	reads("UCF101: a 0 makes it path and label", "A/v_A_g08_c01.avi 0\n"
	    "B/v_B_g08_c01.avi 1\n", "auto", "A/v_A_g08_c01.avi|0 B/v_B_g08_c01.avi|1");
	refuses("UCF101: a 0 is refused if the format is named",
	    "A/v_A_g08_c01.avi 0\n",
	    "ucf101", "line 1: \"A/v_A_g08_c01.avi 0\" (wanted Class/v_Cl");
}

static void
test_paths(void)
{
	static const char *const json[] = {
		"[{\"url\":\"1\",\"label\":\"a\"}]",
		" {\n  \"abc\": {\"subset\": \"train\"}\n}\n", "[\n \"a.mp4\"]",
		"{\"path\":\"a.mp4\",\"label\":1}\n{\"path\":\"b.mp4\",\"label\":2}\n"
	};
	struct list l = { 0 };
	int r;

	r = list_read_paths(&l, put("list", "a b.mp4\n\n-x\n\xff\r\nlast"), 0);
	is_text(rows(&l), "a b.mp4 -x \xff\r last",
	    "list of paths: paths are bytes, one per line");
	list_free(&l);
	r = list_read_paths(&l, put_bytes("list", "a\nb\0c\0", 6), 1);
	is_text(rows(&l), "a\nb c",
	    "list of paths: separated by zero bytes");
	list_free(&l);
	r = list_read_paths(&l, put("list", "\357\273\277a b.mp4\r\nc.mp4\r\n\r\nd"),
	    0);
	is_text(rows(&l), "a b.mp4 c.mp4 d",
	    "list of paths: CR LF everywhere, and a byte order mark");
	list_free(&l);
	for (size_t i = 0; i < sizeof(json) / sizeof(*json); i++) {
		said_begin(why, sizeof(why));
		r = list_read_paths(&l, put("list", json[i]), 0);
		ok(r == -1 && strstr(said_now(), "list: line 1: JSON (wanted lines of a video") !=
		    NULL, "JSON as a list of paths is refused: %s", said_now());
		said_begin(why, sizeof(why));
		r = list_read(&l, put("list", json[i]),
		    &(struct list_how){ .format = 0 });
		said_end();
		ok(r == -1 && strstr(why, i < 3 ?
		    "list: line 1: JSON (wanted lines of a video" :
		    "list: not valid JSON at line 2") != NULL,
		    "JSON as a list of labels is refused: %s", why);
		list_free(&l);
	}
	r = list_read_paths(&l, put("list", "[2020] a.mp4\n{b}.mp4\n"), 0);
	is_text(rows(&l), "[2020] a.mp4 {b}.mp4",
	    "list of paths: brackets in names");
	list_free(&l);
	said_begin(why, sizeof(why));
	r = list_read(&l, put("list", "a 1\rb 2\r"),
	    &(struct list_how){ .format = text_choice(list_format_choices, "path-label") });
	said_end();
	ok(r == -1 && strstr(why, "line 1: a carriage return within") != NULL,
	    "lines that end in CR alone are refused: %s", why);
	list_free(&l);
	said_begin(why, sizeof(why));
	r = list_read_paths(&l, put_bytes("list", "a\nb\0c\0", 6), 0);
	ok(r == -1 && strstr(said_now(), "zero byte") != NULL,
	    "a zero byte in a list of lines is refused: %s", said_now());
	said_begin(why, sizeof(why));
	r = list_read_paths(&l, put_bytes("list", "\377\376a\0\n\0", 6), 0);
	ok(r == -1 && strstr(said_now(), "list: UTF-16LE (wanted") != NULL,
	    "a list in UTF-16 is refused by that name: %s", said_now());
	r = list_read_paths(&l, "/nonexistent/list", 0);
	said_end();
	ok(r == -1 && strstr(why, "/nonexistent/list") != NULL,
	    "a missing list is refused by name");
	list_free(&l);
}

/*
 * Return class numbers, "0 1 -1", of the rows of ${text}, with the class file
 * ${classes} if not NULL, or "failed".  Set ${*names} to the classes.  Valid
 * until the next call.
 */
static const char *
numbers_as(const char *text, const char *classes, int by_folder,
    const char **names, const char *format)
{
	static struct buffer b;
	static struct buffer c;
	struct class_list cl = { 0 };
	struct list l = { 0 };
	int r;

	b.n = c.n = 0;
	said_begin(why, sizeof(why));
	r = list_read(&l, put("list", text),
	    &(struct list_how){ .format = text_choice(list_format_choices, format) });
	if (r == 0 && classes != NULL)
		r = list_classes(put("classes", classes), 0, &cl);
	if (r == 0)
		r = by_folder ? list_label_folders(&l, NULL) : 0;
	if (r == 0)
		r = list_number(&l, &cl, "names.txt");
	said_end();
	buffer_text(&b, r == 0 ? "" : "failed");
	for (size_t i = 0; i < l.n && r == 0; i++)
		buffer_printf(&b, "%s%d", i > 0 ? " " : "",
		    l.row[i].sample.label);
	buffer_text(&c, "");
	for (size_t i = 0; i < cl.n; i++)
		buffer_printf(&c, "%s%s", i > 0 ? "," : "", cl.name[i]);
	*names = c.data;
	list_free(&l);
	class_list_free(&cl);
	return b.data;
}

static const char *
numbers(const char *text, const char *classes, int by_folder,
    const char **names)
{
	return numbers_as(text, classes, by_folder, names, "path-label");
}

/* Check that a list is refused when its labels become numbers. */
static void
refuses_labels(const char *what, const char *text, const char *format,
    const char *classes, const char *says)
{
	const char *c;
	int bad = strcmp(numbers_as(text, classes, 0, &c, format), "failed") == 0;

	if (!ok(bad && strstr(why, says) != NULL, "%s", what))
		diag("said: %s (wanted: %s)", why, says);
}

static void
test_labels(void)
{
	const char *c;

	refuses_labels("a line without a label is refused",
	    "a.mp4 1\n\nb.mp4\nc.mp4 2\n",
	    "auto", NULL, "list: line 3: b.mp4: no label (wanted one in each "
	    "line)");
	refuses_labels("a last line without a label is refused",
	    "a.mp4 1\nb.mp4\n", "auto", NULL,
	    "list: line 2: b.mp4: no label");
	refuses_labels("a list without labels is refused",
	    "a.mp4\nb.mp4\n", "path-label",
	    NULL, "list: line 1: a.mp4: no label");
	refuses_labels("an empty label between commas is refused",
	    "a.mp4,1\nb.mp4,\n",
	    "auto", NULL, "list: line 2: b.mp4: no label");
	refuses_labels("an empty label in a CSV is refused",
	    "path,label\na,x\nb,\n",
	    "auto", NULL, "list: line 3: b: no label");
	is_text(numbers_as("path,n\na,1\nb,2\n", NULL, 0, &c, "auto"),
	    "-1 -1", "a CSV without a label column has no labels");
	refuses_labels("Something-Something v2: a missing label is refused",
	    "[{\"id\":\"1\",\"template\":"
	    "\"a\"},{\"id\":\"2\"}]", "auto", NULL,
	    "list: item 2: 2.webm: no label");
	is_text(numbers_as("x/a.mp4\nx/b.mp4\n", NULL, 1, &c, "auto"), "0 0",
	    "folders give labels to paths alone");
	refuses_labels("a name among numbers is refused",
	    "a.mp4 0\nb.mp4 walk\nc.mp4 2\n",
	    "auto", NULL, "list: line 2: b.mp4: label walk among numbers "
	    "(wanted only numbers or only names; --annotations-format=path-label");
	refuses_labels("a number among names is refused", "a.mp4 run\nb.mp4 7\n"
	    "c.mp4 walk\n", "auto", NULL,
	    "list: line 2: b.mp4: label 7 among names");
	refuses_labels("of a number and a name, the later one is refused",
	    "a.mp4 1\nb.mp4 two\n", "auto", NULL,
	    "list: line 2: b.mp4: label two among numbers");
	refuses_labels("of a name and a number, the later one is refused",
	    "a.mp4 two\nb.mp4 1\n", "auto", NULL,
	    "list: line 2: b.mp4: label 1 among names");
	refuses_labels("labels from 1 are recognized", "a.mp4 1\nb.mp4 2.0\n",
	    "auto", "1 A\n2 B\n", "list: line 2: b.mp4: label 2 (wanted 0 to 1)"
	    ": labels count from 0, and all of these from 1; subtract 1");
	refuses_labels("a name among numbers in a CSV is refused",
	    "path,label\na,1\nb,2\nc,x\n", "auto", NULL,
	    "list: line 4: c: label x among numbers");
	is_text(numbers_as("path,label\na,1\nb,x\n", NULL, 0, &c, "csv"),
	    "0 1", "named format: a number among names is a name");
	refuses_labels("UCF101: a label beyond the classes counts from 1",
	    "A/v_A_g01_c01.avi 2\n"
	    "B/v_B_g01_c01.avi 7\n", "auto", "1 A\n2 B\n", "list: line 2: "
	    "B/v_B_g01_c01.avi: label 7 (wanted 1 to 2)");
	is_text(numbers_as("B/v_B_g01_c01.avi 2\nA/v_A_g01_c01.avi 1\n",
	    "1 A\n2 B\n", 0, &c, "auto"), "1 0",
	    "UCF101: labels become numbers from 0");
}

static void
test_numbers(void)
{
	const char *c;

	is_text(numbers("a 4\nb 0\n", NULL, 0, &c), "4 0",
	    "numbers as labels are class numbers");
	is_text(c, "", "numbers as labels name no classes");
	is_text(numbers("a run\nb fall\nc run\n", NULL, 0, &c), "1 0 1",
	    "names as labels are numbered");
	is_text(c, "fall,run", "names are numbered in byte order");
	is_text(numbers("a run\nb fall\n", "run\nwalk\nfall\n", 0, &c), "0 2",
	    "names are numbered by the class file");
	is_text(numbers("a 2\nb 0\n", "run\nwalk\nfall\n", 0, &c), "2 0",
	    "numbers within the class file are accepted");
	is_text(numbers("a 3\n", "run\nwalk\nfall\n", 0, &c), "failed",
	    "a number beyond the class file is refused");
	ok(strstr(why, "line 1: a: label 3 (wanted 0 to 2)") != NULL,
	    "the message names line and range: %s", why);
	is_text(numbers("a run\nb jump\n", "run\nwalk\n", 0, &c), "failed",
	    "a name that is not in the class file is refused");
	ok(strstr(why, "line 2: b: class jump is not among the 2 classes of "
	    "names.txt (wanted run, walk: --classes)") != NULL,
	    "the message names line and classes: %s", why);
	is_text(numbers("a -1\n", NULL, 0, &c), "failed",
	    "a negative number is refused");
	is_text(numbers("a 1\nb 99999999999999999999\n", NULL, 0, &c), "failed",
	    "a number too large for 64 bits is refused");
	ok(strstr(why, "line 2: b: label 99999999999999999999 (wanted 0 to ") !=
	    NULL, "the message has the range: %s", why);
	is_text(numbers("a 2147483648\n", NULL, 0, &c), "failed",
	    "a number too large for a label is refused");
	is_text(numbers("a 0\n", "run\na\302\233b\n", 0, &c), "failed",
	    "a class with a control character is refused");
	ok(strstr(why, "class 1: \"a\\u009bb\" holds a control character") !=
	    NULL, "the message escapes the class: %s", why);
	is_text(numbers("a 0\n", "\302\253\303\251t\303\251\302\273\n", 0, &c), "0",
	    "a class with other characters is accepted");
	is_text(numbers("a 1\nb x\n", NULL, 0, &c), "0 1",
	    "one name makes all labels names");
	is_text(numbers("x/run/a\nx/fall/b\n./x/fall//c\n", NULL, 1, &c),
	    "1 0 0", "folders give labels");
	is_text(c, "fall,run", "folders are the classes");
	is_text(numbers("7/a\n5/b\n", NULL, 1, &c), "1 0",
	    "folders named by numbers are names");
	is_text(numbers("x/a run\nfall/b\n", NULL, 1, &c), "1 0",
	    "a label in the list overrides the folder");
	is_text(numbers("a\n", NULL, 1, &c), "failed",
	    "a path without a folder is refused");
	is_text(numbers("./a\n", NULL, 1, &c), "failed",
	    "./a has no folder and is refused");
	is_text(numbers("/a\n", NULL, 1, &c), "failed",
	    "/a has no folder and is refused");
	numbers("a 0\n", "1 Apply\r\n2 Archery Two\r\n", 0, &c);
	is_text(c, "Apply,Archery Two", "a class file numbered from 1");
	numbers("a 0\n", "0 Apply\n1 Archery\n", 0, &c);
	is_text(c, "Apply,Archery", "a class file numbered from 0");
	numbers("a 0\n", "2 hands\n1 hand\n", 0, &c);
	is_text(c, "2 hands,1 hand",
	    "a class file with other numbers: they are part of the name");
	is_text(numbers("a 0\n", "x\nx\n", 0, &c), "failed",
	    "a class file with a class twice is refused");
}

/*
 * Return the labels that folders give to the paths of ${text}, whose lines are
 * "PATH" or "PATH LABEL"; on failure the status and the message.  Valid until
 * the next call.
 */
static const char *
folders(const char *text, const char *root)
{
	static struct buffer b;
	struct list l = { 0 };
	char *copy = xstrdup(text), *rest = copy, *line;
	int status;

	b.n = 0;
	buffer_text(&b, "");
	while ((line = strsep(&rest, "\n")) != NULL) {
		char *path = strsep(&line, " ");

		list_add(&l, path);
		if (line != NULL)
			list_row_label(&l.row[l.n - 1], line);
	}
	said_begin(why, sizeof(why));
	status = list_label_folders(&l, root);
	said_end();
	if (status != 0)
		buffer_printf(&b, "%d %s", status, why);
	for (size_t i = 0; i < l.n && status == 0; i++)
		buffer_printf(&b, "%s%s", i > 0 ? " " : "",
		    l.row[i].label->text);
	list_free(&l);
	free(copy);
	return b.data;
}

static void
test_folders(void)
{
	const char *mixed = "v/walk/a\nv/walk/x/b\nv/fall/c";

	is_text(folders(mixed, "v"), "walk walk fall",
	    "folders: the first folder under the root is the class");
	is_text(folders(mixed, "./v/"), "walk walk fall",
	    "folders: the root may be written otherwise");
	is_text(folders("v/walk/a\nv/b", "v"), "1 v/b: is in v itself (wanted "
	    "in a subfolder that names its class: --label-from=dir)",
	    "folders: a video in the root itself is refused");
	is_text(folders("v/walk/a\nw/b", "v"), "1 w/b: not below v",
	    "folders: a video outside the root is refused");
	is_text(folders(mixed, NULL), "2 v/walk/x/b: class x by its own folder, "
	    "walk by the first folder below v; other videos lie at other depths "
	    "(wanted --root=v for walk)",
	    "folders: without a root, several depths are refused");
	is_text(folders("walk/a\nwalk/x/b", NULL), "2 walk/x/b: class x by its "
	    "own folder, walk by the first folder below .; other videos lie at "
	    "other depths (wanted --root=. for walk)",
	    "folders: several depths are refused within one folder");
	is_text(folders("/v/walk/a\n/v//./walk/x/b", NULL), "2 /v//./walk/x/b: "
	    "class x by its own folder, walk by the first folder below /v; other "
	    "videos lie at other depths (wanted --root=/v for walk)",
	    "folders: several depths are refused in absolute paths");
	is_text(folders("v/walk/x/a\nv/fall/x/b", NULL), "x x",
	    "folders: at one depth the video's own folder counts");
	is_text(folders("v/walk/a\nv/walk/b", NULL), "walk walk",
	    "folders: at one depth the only folder counts");
	is_text(folders("walk/a\n/v/w/fall/b", NULL), "walk fall",
	    "folders: without a common parent the own folder counts");
	is_text(folders("v/walk/a\nv/b run\nv/fall/x/c run", NULL),
	    "walk run run",
	    "folders: videos with a label do not count for the depth");
}

/*
 * Return the summary of ${n} classes NAME0, NAME1, ...; class i has i + 1
 * samples.  Valid until the next call.
 */
static const char *
tallied(const char *name, int n, int unlabeled)
{
	static struct buffer b;
	struct class_list c = { 0 };
	struct tally t = { 0 };
	char text[100];

	b.n = 0;
	buffer_text(&b, "");
	for (int i = n; i-- > 0;)
		for (int k = 0; k <= i; k++)
			tally_add(&t, &(struct sample){ .label = i });
	for (int i = 0; i < unlabeled; i++)
		tally_add(&t, &(struct sample){ .label = -1 });
	for (int i = 0; i < n && name != NULL; i++) {
		snprintf(text, sizeof(text), "%s%d", name, i);
		class_add(&c, text);
	}
	tally_text(&t, &c, &b);
	tally_free(&t);
	class_list_free(&c);
	return b.data;
}

/* The classes in the summary line of vt-extract and vt-pack. */
static void
test_tally(void)
{
	const struct label_interval several[] = { { 2, 0, 1 }, { 0, 0, 1 }, { 2, 3, 4 } };
	struct class_list none = { 0 }, three = { 0 };
	struct buffer b = { 0 };
	struct tally t = { 0 };

	is_text(tallied("my ", 2, 1), ", 2 classes (\"my 0\": 1, \"my 1\": 2), "
	    "1 without a class", "summary: classes are counted");
	is_text(tallied(NULL, 1, 0), ", 1 class (0: 1)",
	    "summary: classes without names are shown by number");
	is_text(tallied(NULL, 0, 3), "", "summary: no classes give no text");
	is_text(tallied("a_rather_long_name_of_a_class_", 30, 0), ", 30 classes "
	    "(from a_rather_long_name_of_a_class_0: 1 to "
	    "a_rather_long_name_of_a_class_29: 30)",
	    "summary: many classes show the smallest and the largest");
	tally_add(&t, &(struct sample){ .label = -1, .labels = several,
		.nlabels = 3, .flags = SHARD_DAMAGED });
	tally_text(&t, &none, &b);
	is_text(b.data, ", 2 classes (0: 1, 2: 1)",
	    "summary: a sample of several classes counts once in each");
	ok(t.defective == 1, "summary: a damaged sample is counted");
	for (int i = 0; i < 3; i++)
		class_add(&three, (const char *[]){ "a", "b", "c" }[i]);
	b.n = 0;
	tally_text(&t, &three, &b);
	is_text(b.data, ", 3 classes (a: 1, b: 0, c: 1)",
	    "summary: a named class without samples is shown");
	class_list_free(&three);
	tally_free(&t);
	buffer_free(&b);
}

int
main(void)
{
	program_start("list");
	program_quiet(1);
	if (mkdtemp(dir) == NULL)
		return 1;
	test_path_label();
	test_csv();
	test_kinetics();
	test_ucf101();
	test_paths();
	test_numbers();
	test_labels();
	test_folders();
	test_tally();
	unlink(put("list", ""));
	unlink(put("classes", ""));
	rmdir(dir);
	return done();
}
