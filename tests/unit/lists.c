/*
 * Lists of TSM, MMAction2, PySlowFast, Something-Something, Charades, HMDB51
 * and Kinetics are read: rows, parts of videos, sets of classes, subsets.
 */
#include "ingest/list_write.h"
#include "list_read.h"

static void
test_numbered(void)
{
	reads("TSM: frames in folders", "v/a 300 7\nv/b 12 0\n", "auto",
	    "v/a|7(0,300) v/b|0(0,12)");
	reads("TSM: folders named by numbers", "78687 41 36\n42 9 1\n",
	    "auto", "78687|36(0,41) 42|1(0,9)");
	reads("MMAction2: frames with an offset", "v/a 120 300 7\nv/a 0 30 8\n",
	    "mmaction2-offset", "v/a+_f000120_f000420(120,300){7} "
	    "v/a+_f000000_f000030(0,30){8}");
	reads("MMAction2: several labels of videos",
	    "a.mp4 7 9 12\nb.mp4 1\n", "auto",
	    "a.mp4{7,9,12} b.mp4{1}");
	reads("MMAction2: several labels of frames",
	    "v/a 300 7 9\nv/b 20 1\n", "auto",
	    "v/a(0,300){7,9} v/b(0,20){1}");
	reads("PySlowFast: three fields, two, or no label",
	    "c/a.mp4 7\nc/b.mp4 x 3\nc/c.mp4\n", "pyslowfast",
	    "c/a.mp4|7 c/b.mp4|3 c/c.mp4|0");
	refuses("three numbers after each folder are refused without a format",
	    "v/a 120 300 7\n",
	    "auto", "list: line 1: a folder and three numbers, in every line "
	    "(wanted --annotations-format=mmaction2-offset");
	refuses("one number or two", "a.mp4 1\nb.mp4 1 2\n", "auto",
	    "list: line 2: two numbers after the path, but one in line 1 (wanted "
	    "--annotations-format=mmaction2");
	refuses("TSM: a label that is not a number is refused",
	    "v/a 30 7\nv/b 30 x\n", "tsm",
	    "list: line 2: \"v/b 30 x\" (wanted a folder, the number");
	refuses("no frames", "v/a 0 7\n", "tsm", "line 1: \"v/a 0 7\"");
	refuses("no label", "v/a 30\n", "tsm", "line 1: \"v/a 30\"");
	refuses("one label too many", "v/a 30 1 2\n", "tsm", "line 1");
	refuses("PySlowFast, a label in words", "a.mp4 run\n", "pyslowfast",
	    "line 1: 2 fields, the first a.mp4 (wanted a path and a label");
}

static void
test_something(void)
{
	char path[600];

	reads("v1", "74225;Turning the camera right\n116154;Opening\n",
	    "auto", "74225|Turning the camera right 116154|Opening");
	reads("Something-Something v1: a test list",
	    "7\n8\n", "ssv1", "7 8");
	refuses("Something-Something v1: a missing label is refused",
	    "7;a\n8;\n", "ssv1", "line 2: 8; (wanted a number");
	reads("v2", "[{\"id\":\"12\",\"label\":\"pushing cup left\",\"template\":"
	    "\"Pushing [something] left\",\"placeholders\":[\"cup\"]},\n"
	    "{\"id\":\"3\",\"template\":\"Opening [something]\"}]", "auto",
	    "12.webm|Pushing something left 3.webm|Opening something");
	reads("Something-Something v2: a test list",
	    "[{\"id\": \"456\"}]", "auto", "456.webm");
	refuses("Something-Something v2: an item without an id is refused",
	    "[{\"id\":\"1\"},{\"template\":"
	    "\"a\"}]", "auto", "list: item 2 (wanted \"id\"");
	refuses("Something-Something v2: a path as an id is refused",
	    "[{\"id\":\"../1\"}]", "auto",
	    "item 1");
	refuses("Something-Something v2: text that is not JSON is refused",
	    "1;a\n", "ssv2", "list");
	put("7.mp4", "x");
	snprintf(path, sizeof(path), "%s/7.mp4|a %s/8|b", dir, dir);
	check_read("Something-Something v1: an existing video, else a folder",
	    "list",
	    "7;a\n8;b\n", "auto", dir, NULL, path);
	unlink(put("7.mp4", ""));
}

static void
test_charades(void)
{
	reads("Charades", "id,subject,script,actions,length\n"
	    "46GP8,HR43,\"He said, \"\"no\"\".\",c092 11.90 21.20;"
	    "c147 0.00 12.60,24.83\nN11GT,0KZ7,x,,18.33\n", "auto",
	    "46GP8.mp4{92@11.9-21.2,147@0-12.6} N11GT.mp4{}");
	refuses("Charades: an action of an unknown class is refused",
	    "id,actions\na,c157 0 1\n", "auto",
	    "list: line 2: action \"c157 0 1\" (wanted c000 to c156, then");
	refuses("Charades: an action that ends before it begins is refused",
	    "id,actions\n"
	    "a,c000 3 1\n", "auto", "line 2: action \"c000 3 1\"");
	refuses("Charades: a short row is refused",
	    "id,subject,actions\na,b\n", "auto",
	    "line 2: 2 cells (wanted 3, one for each column up to actions)");
	reads("Charades: a list of frames",
	    "original_vido_id video_id frame_id path labels\n"
	    "AB 0 0 AB/AB-000001.jpg \"12,59\"\n"
	    "AB 0 1 AB/AB-000002.jpg \"12\"\n"
	    "AB 0 2 AB/AB-000003.jpg \"59,12\"\n"
	    "CD 1 0 CD/CD-000001.jpg \"\"\n", "auto",
	    "AB(0,3){12@0-2,59@0-0,59@2-2} CD(0,1){}");
	refuses("Charades: a missing frame is refused",
	    "original_vido_id video_id frame_id "
	    "path labels\nAB 0 0 AB/1.jpg \"\"\nAB 0 2 AB/3.jpg \"\"\n",
	    "auto", "list: line 3: frame 2 of AB (wanted 1, the next one)");
	refuses("Charades: a label that is not a number is refused",
	    "original_vido_id video_id frame_id path "
	    "labels\nAB 0 0 AB/1.jpg \"12,x\"\n", "auto",
	    "line 2: label x (wanted 0 to 156)");
}

/* A list of one row under the header ${header}: the part that it selects. */
static void
selects(const char *header, const char *row, const char *want)
{
	char *text = xprintf("%s\n%s\n", header, row), *what;

	what = xprintf("columns \"%s\", row \"%s\"", header, row);
	reads(what, text, "auto", want);
	free(what);
	free(text);
}

static void
test_times(void)
{
	const char *seconds = "a.mp4+_000500_001700ms|walk[0.5,1.7]";
	const char *frames = "a.mp4+_f000005_f000017|walk(5,12)";
	static const char *const named[][2] = {
		{ "start", "end" }, { "begin", "end" }, { "Begin", "Stop" },
		{ "onset", "offset" }, { "start_time", "end_time" },
		{ "startTime", "endTime" }, { "starttime", "endtime" },
		{ "t_start", "t_end" }, { "tStart", "tStop" },
		{ "START", "END" }, { "Start Time", "End Time" },
		{ "segment_start", "segment_end" }, { "start-time", "end-time" },
		{ "start_sec", "end_sec" }, { "Start (s)", "Stop (s)" },
		{ "start_seconds", "end_seconds" }, { "Time Start", "time.end" },
		{ "start_timestamp", "stop_timestamp" },
		{ " start", " end " }, { "\"start\"", "\"end\"" },
	}, *const milli[][2] = {
		{ "start_ms", "end_ms" }, { "startMs", "endMs" },
		{ "Begin Time - msec", "End Time - msec" },
		{ "onset_ms", "offset_ms" }, { "start (ms)", "stop (ms)" },
		{ "start_milliseconds", "end_milliseconds" },
		{ "start_in_ms", "end_in_ms" },
	}, *const framed[][2] = {
		{ "frame_start", "frame_end" }, { "start_frame", "end_frame" },
		{ "StartFrame", "EndFrame" }, { "startframe", "endframe" },
		{ "start_frame", "stop_frame" }, { "Begin (frames)", "End (frames)" },
	};
	char header[200];

	for (size_t i = 0; i < sizeof(named) / sizeof(*named); i++) {
		snprintf(header, sizeof(header), "label,%s,%s,path",
		    named[i][0], named[i][1]);
		selects(header, "walk,0.5,1.7,a.mp4", seconds);
	}
	for (size_t i = 0; i < sizeof(milli) / sizeof(*milli); i++) {
		snprintf(header, sizeof(header), "path,label,%s,%s",
		    milli[i][0], milli[i][1]);
		selects(header, "a.mp4,walk,500,1700", seconds);
	}
	for (size_t i = 0; i < sizeof(framed) / sizeof(*framed); i++) {
		snprintf(header, sizeof(header), "path;label;%s;%s",
		    framed[i][0], framed[i][1]);
		selects(header, "a.mp4;walk;5;17.0", frames);
	}
	selects("path,label,start_us,end_us", "a.mp4,walk,500000,1700000",
	    seconds);
	selects("path;label;start;end", "a.mp4;walk;0,5;1,7", seconds);
	selects("path,label,start,end", "a.mp4,walk,\"0,5\",\"1,7\"", seconds);
	selects("path\tlabel\tstart\tend", "a.mp4\twalk\t00:00.5\t0:01.7",
	    seconds);
	selects("path,label,time_start,time_end",
	    "a.mp4,walk,00:00:00.500,\"0:00:01,7\"", seconds);
	selects("path;label;Start, sec;End, sec", "a.mp4;walk;0,5;1,7", seconds);
	selects("path label start end", "a.mp4  walk 0.5 1.7", seconds);
	selects("sep=;\npath;label;start;end", "a.mp4;walk;0,5;1,7", seconds);
	selects("path|label|start|end", "a.mp4|walk|0.5|1.7", seconds);
	selects("path,label,start,end", "a.mp4,walk,0,1:02:03",
	    "a.mp4+_000000_003723|walk[0,3723]");
	selects("path,label,start", "a.mp4,walk,0.5",
	    "a.mp4+_000500_000000ms|walk[0.5,0]");
	selects("path,label,end", "a.mp4,walk,1.7",
	    "a.mp4+_000000_001700ms|walk[0,1.7]");
	selects("path,label,start,end", "a.mp4,walk,,", "a.mp4|walk");
	selects("video_id,class,start_frame,end_frame", "a,walk,5,17",
	    "a+_f000005_f000017|walk(5,12)");
	selects("id,label,start,end", "a,walk,0.5,1.7",
	    "a.mp4+_000500_001700ms|walk[0.5,1.7]");
	selects("path,label,start,end,time_start,time_end",
	    "a.mp4,walk,x,y,0.5,1.7", seconds);
	reads("a unit by the values of any row",
	    "path,label,start,end\na.mp4,x,0,2\nb.mp4,y,1,2.5\n", "auto",
	    "a.mp4+_000000_000002|x[0,2] "
	    "b.mp4+_001000_002500ms|y[1,2.5]");
	reads("Kinetics that is named: integers are seconds",
	    "id,label,start,end\na,x,1,2\n", "kinetics",
	    "a_000001_000002.mp4|x");
	refuses("integers without a unit",
	    "path,label,start,end\na.mp4,x,1,\nb.mp4,y,,3\n", "auto",
	    "list: line 2: column start has integers without a unit (wanted it "
	    "in the name: time_start for seconds, start_ms for milliseconds, "
	    "frame_start for frames)");
	refuses("integers without a unit next to an id",
	    "id,label,t_start,t_end\na,x,1,2\n", "auto",
	    "line 2: column t_start has integers without a unit");
	refuses("two columns that begin a part",
	    "path,label,start,onset,end\na.mp4,x,1.5,1.5,2\n", "auto",
	    "line 1: columns start and onset (wanted one of them, or the name "
	    "time_start for one)");
	refuses("an offset that may be a start",
	    "path,label,offset\na.mp4,x,1.5\n", "auto",
	    "line 1: column offset without onset");
	refuses("a start and a length",
	    "path,label,start,duration\na.mp4,x,1.5,2.5\n", "auto",
	    "line 1: columns start and duration (wanted begin and end in one");
	refuses("a start in seconds, an end in frames",
	    "path,label,start_s,end_frame\na.mp4,x,1,20\n", "auto",
	    "line 1: columns start_s and end_frame (wanted begin and end in");
	refuses("times under a name that is not known",
	    "path,label,wave.onset\na.mp4,x,500\n", "auto",
	    "line 1: column wave.onset has times under a name that vt does");
	refuses("instants", "path,label,time (s)\na.mp4,x,2.5\n", "auto",
	    "line 1: column \"time (s)\" has times");
	refuses("times under two names that are not known",
	    "path,label,Timecode In,Timecode Out\na.mp4,x,0:01,0:02\n", "auto",
	    "line 1: column \"Timecode In\" has times");
	refuses("two times in a cell", "path,label,segment\na.mp4,x,\"[0.5, 1]\"\n",
	    "auto", "line 1: column segment has times");
	reads("the number of a segment", "path,label,segment\na.mp4,x,3\n",
	    "auto", "a.mp4|x");
	refuses("a comma that may separate thousands",
	    "path,label,start,end\na.mp4,x,\"1,234\",\"2,345\"\n", "auto",
	    "a comma before three digits");
	reads("text in a column with the name of a time",
	    "path,label,comment start,time\na.mp4,x,a,2024-05-01 10:00\n",
	    "auto", "a.mp4|x");
	refuses("both seconds and frames in a row",
	    "path,label,start_s,end_s,start_frame,end_frame\na.mp4,x,1,2,10,20\n",
	    "auto", "line 2: a part in seconds and in frames (wanted one of "
	    "them");
	refuses("60 seconds after a colon",
	    "path,label,start,end\na.mp4,x,0:59,0:60\n", "auto",
	    "line 2: end 0:60 (wanted a time after 0:59, or nothing");
	refuses("milliseconds after a third colon",
	    "path,label,start,end\na.mp4,x,00:00:00:500,00:00:01:700\n",
	    "auto", "line 2: start 00:00:00:500 (wanted a time from 0: "
	    "seconds, mm:ss or hh:mm:ss)");
	refuses("a colon in milliseconds",
	    "path,label,start_ms,end_ms\na.mp4,x,0:01,0:02\n", "auto",
	    "line 2: start_ms 0:01 (wanted a time from 0)");
	refuses("an end before its start",
	    "path,label,start,end\na.mp4,x,1.5,1\n", "auto",
	    "line 2: end 1 (wanted a time after 1.5, or nothing");
}

static void
test_cells(void)
{
	char *wide = xstrdup("c0"), *row = xstrdup("0"), *text;

	refuses("a comma in a cell without quotes",
	    "path,label\na.mp4,x\nb.mp4,walk, then run\n", "auto",
	    "list: line 3: 3 cells, but 2 columns in the header (wanted quotes");
	refuses("Charades: a comma between actions",
	    "id,actions\na,c001 0 1;c002 0 1,c003 0 1\n", "auto",
	    "line 2: 3 cells, but 2 columns");
	refuses("a quote without its end", "path,label\na.mp4,\"walk\nb\"\n",
	    "auto", "line 2: a quote without its end");
	reads("blanks around cells, but not within quotes",
	    "path, label\n a.mp4 , walk \nb.mp4, \" run\"\n", "auto",
	    "a.mp4|walk b.mp4| run");
	reads("blanks around fields without a header",
	    "a.mp4, walk \r\nb.mp4 ,run\r\n", "auto", "a.mp4|walk b.mp4|run");
	reads("names that begin as binary files do", "PK_1.mp4,0\nPAR1.mp4,1\n",
	    "auto", "PK_1.mp4|0 PAR1.mp4|1");
	reads("folders named by ranges", "1-30 7\n31-60 8\n", "auto",
	    "1-30|7 31-60|8");
	reads("numbers of a set as floats", "path,label_set\na.mp4,7.0;9\n",
	    "auto", "a.mp4{7,9}");
	reads("empty cells and rows of separators",
	    "path,label,,\na.mp4,x,,\n,,,\nb.mp4,y,,,\n  \n", "auto",
	    "a.mp4|x b.mp4|y");
	for (int i = 1; i < 80; i++) {
		char *next = xprintf("%s,c%d", wide, i);

		free(wide);
		wide = next;
		next = xprintf("%s,%d", row, i);
		free(row);
		row = next;
	}
	text = xprintf("%s,path,label\n%s,a.mp4,x\n", wide, row);
	reads("82 columns", text, "auto", "a.mp4|x");
	free(text);
	free(wide);
	free(row);
}

static void
test_hacs(void)
{
	reads("HACS: classname is the label, rows of -1 are left out",
	    "classname,youtube_id,subset,start,end,label\n"
	    "Ice fishing,a,training,1,2,1\nIce fishing,b,training,1,3,-1\n",
	    "auto", "Ice fishing/v_a.mp4+_000001_000002|"
	    "Ice fishing[1,2]");
	refuses("HACS: another label", "classname,youtube_id,subset,start,end,"
	    "label\nx,a,training,1,2,7\n", "auto",
	    "line 2: label 7 (wanted 1 for a video of its class, -1");
	reads("a name and a number of a class are not HACS",
	    "label,class_name,youtube_id,time_start,time_end\n7,x,a,1,2\n",
	    "auto", "a_000001_000002.mp4|7");
}

static void
test_activitynet(void)
{
#define VIDEO "{\"database\":{\"a\":{\"annotations\":[%s]}}}"
	static const char *const bad[] = {
		"{\"segment\":[0,1]}", "{\"segment\":[0],\"label\":\"x\"}",
		"{\"segment\":[-1,1],\"label\":\"x\"}",
		"{\"segment\":[0,1e9],\"label\":\"x\"}",
		"{\"segment\":\"0\",\"label\":\"x\"}",
	};
	const char *list = "{\"version\":\"1.3\",\"database\":{"
	    "\"a\":{\"duration\":5.0,\"subset\":\"training\","
	    "\"annotations\":[{\"segment\":[0.5,1.7],\"label\":\"Long jump\"},"
	    "{\"segment\":[4.5,7],\"label\":\"Fall, hard\"},"
	    "{\"segment\":[0,0],\"label\":\"none\"},"
	    "{\"segment\":[6,7],\"label\":\"none\"}]},"
	    "\"b\":{\"duration\":\"0\",\"subset\":\"validation\","
	    "\"annotations\":[{\"segment\":[1,2],\"label\":\"Run\"}]},"
	    "\"c\":{\"duration\":\"9.5\",\"subset\":\"testing\","
	    "\"annotations\":[]},\"d\":{\"subset\":\"testing\"}}}";
	char text[200], path[600];

	said_begin(why, sizeof(why));
	reads("ActivityNet: segments end with the video, empty ones are left "
	    "out", list, "auto", "v_a.mp4+_000500_001700ms|Long jump[0.5,1.7] "
	    "v_a.mp4+_004500_005000ms|Fall, hard[4.5,5] "
	    "v_b.mp4+_000001_000002|Run[1,2]");
	said_end();
	check_read("ActivityNet: a subset", "list", list, "auto", NULL,
	    "validation", "v_b.mp4+_000001_000002|Run[1,2]");
	snprintf(path, sizeof(path), "%s/Run", dir);
	mkdir(path, 0755);
	put("Run/v_b.webm", "x");
	snprintf(path, sizeof(path), "%s/Run/v_b.webm+_000001_000002|Run[1,2]",
	    dir);
	check_read("ActivityNet: a video in the folder of its class", "list",
	    list, "auto", dir, "validation", path);
	unlink(put("Run/v_b.webm", ""));
	snprintf(path, sizeof(path), "%s/Run", dir);
	rmdir(path);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		snprintf(text, sizeof(text), VIDEO, bad[i]);
		refuses(bad[i], text, "auto", "list: a: annotation 1 (wanted "
		    "\"segment\": [BEGIN, END] in seconds, and");
	}
	refuses("ActivityNet: an id with a slash is refused",
	    "{\"database\":{\"../a\":{}}}", "auto", "list: database: ../a "
	    "(wanted an id");
	refuses("ActivityNet: a duration in words is refused",
	    "{\"database\":{\"a\":{\"duration\":\"x\"}}}", "auto",
	    "list: a: duration (wanted seconds)");
	refuses("ActivityNet: another file is refused",
	    "[{\"id\":\"1\"}]", "activitynet", "no object \"database\"");
#undef VIDEO
}

/* Events of BORIS: starts and stops, several files, offsets, other headers. */
static void
test_boris(void)
{
#define HEADER "Observation id,Source,Time offset (s),Media duration (s)," \
    "Subject,Behavior,Modifier #1,Behavior type,"
#define TABLE HEADER "Time\n"
#define STATES HEADER "Start (s),Stop (s)\n"
#define TWO "o,player #1:a.mp4;b.mp4|player #2:z.mp4,0,5.0;4.0|7,"
	reads("BORIS: a state of a later file, and one that crosses files",
	    STATES TWO "s,groom,left,STATE,0.500,1.700\n"
	    TWO "s,groom,,STATE,6.1,7.5\n" TWO "s,run,,STATE,4,6\n", "auto",
	    "a.mp4+_000500_001700ms|groom[0.5,1.7] "
	    "b.mp4+_001100_002500ms|groom[1.1,2.5] "
	    "a.mp4+_000004_000005|run[4,5] b.mp4+_000000_000001|run[0,1]");
	reads("BORIS: starts and stops of a subject with its modifiers, in any "
	    "order", TABLE
	    "o,a.mp4,0,9,s,walk,,START,1\no,a.mp4,0,9,t,walk,,START,1.5\n"
	    "o,a.mp4,0,9,s,walk,m,STOP,4\no,a.mp4,0,9,s,walk,,STOP,2\n"
	    "o,a.mp4,0,9,t,walk,,STOP,3\no,a.mp4,0,9,s,walk,m,START,3.5\n"
	    "p,a.mp4,0,9,s,walk,,START,5\np,a.mp4,0,9,s,walk,,STOP,6\n",
	    "auto", "a.mp4+_000001_000002|walk[1,2] "
	    "a.mp4+_001500_003000ms|walk[1.5,3] "
	    "a.mp4+_003500_004000ms|walk[3.5,4] "
	    "a.mp4+_000005_000006|walk[5,6]");
	reads("BORIS: the time offset is contained in the times", STATES
	    "o,/x/a.mp4,3600.5,9,s,walk,,STATE,3601,3602\n", "auto",
	    "/x/a.mp4+_000500_001500ms|walk[0.5,1.5]");
	reads("BORIS 7: lines above the header", "Observation id\to 1\t\t\n\t\t\t\n"
	    "Time offset (s)\t10.0\t\t\nTime\tMedia file path\tBehavior\tStatus\n"
	    "10.5\ta.mp4\tgroom\tSTART\n11\ta.mp4\tgroom\tSTOP\n", "auto",
	    "a.mp4+_000500_001000ms|groom[0.5,1]");
	refuses("BORIS: a POINT event without --around is refused", TABLE
	    "o,a.mp4,0,9,s,bite,,POINT,2.3\n", "auto",
	    "list: line 2: bite is a POINT event (wanted --around=2s");
	with.around = 2;
	reads("BORIS: a POINT event is a clip in its own file", TABLE
	    TWO "s,bite,,POINT,2.3\n" TWO "s,bite,,POINT,5.25\n"
	    TWO "s,bite,,POINT,4.5\n", "auto",
	    "a.mp4+_001300_003300ms|bite[1.3,3.3] "
	    "b.mp4+_000000_001250ms|bite[0,1.25] "
	    "a.mp4+_003500_005000ms|bite[3.5,5]");
	with.around = 0;
	refuses("BORIS: a start without its stop is refused", TABLE
	    "o,a.mp4,0,9,s,walk,,START,1\no,a.mp4,0,9,t,walk,,STOP,3\n",
	    "auto", "list: line 2: START of walk without its STOP");
	refuses("BORIS: a stop without its start is refused", TABLE
	    "o,a.mp4,0,9,s,walk,,STOP,1\n", "auto",
	    "list: line 2: STOP of walk without its START");
	refuses("BORIS: pictures have no times", STATES
	    "o,a.mp4,0,9,s,walk,,STATE,NA,NA\n", "auto",
	    "list: line 2: Start (s) NA (wanted seconds)");
	refuses("BORIS: a live observation is refused", STATES
	    "o,,0,9,s,walk,,STATE,1,2\n", "auto", "line 2: no media file");
	refuses("BORIS: a time before the video is refused", STATES
	    "o,a.mp4,60,9,s,walk,,STATE,1,2\n", "auto",
	    "line 2: walk from 1 s to 2 s, with a time offset of 60 s");
	refuses("BORIS: files without durations are refused",
	    "Observation id,Source,Behavior,Behavior type,Start (s),Stop (s)\n"
	    "o,player #1:a.mp4;b.mp4,x,STATE,1,2\n", "auto",
	    "line 2: several files without their durations");
	refuses("BORIS 7: a second file is refused",
	    "Observation id,Media file,Behavior,Behavior type,Start (s),Stop (s)"
	    "\no,a.mp4,x,STATE,1,2\no,b.mp4,x,STATE,7,8\n", "auto",
	    "line 3: a second file without the duration of the first");
	refuses("BORIS: a comma without quotes is refused", STATES
	    "o,a.mp4,0,9,s,walk, fast,,STATE,1,2\n", "auto",
	    "line 2: 11 cells, but 10 columns in the header (wanted quotes");
	refuses("BORIS: an unknown type is refused", STATES
	    "o,a.mp4,0,9,s,walk,,START,1,2\n", "auto",
	    "line 2: START (wanted STATE or POINT)");
	refuses("BORIS: a file without a header is refused",
	    "Observation id,o\n", "auto", "list: no header (wanted a line with");
#undef HEADER
#undef TABLE
#undef STATES
#undef TWO
}

/* Label Studio: ranges of frames, seconds and choices in each of its exports. */
static void
test_label_studio(void)
{
#define TASK "[{\"id\":1,\"data\":{\"title\":\"x.txt\",\"video\":\"%s\"}," \
    "\"annotations\":[%s]}]"
#define DONE(by, at, value) "{\"completed_by\":" by ",\"updated_at\":\"" at \
    "\",\"result\":[{\"value\":" value "}]}"
#define WALK "{\"ranges\":[{\"start\":1,\"end\":10}],\"timelinelabels\":[\"walk\"]}"
#define HEADER "\"annotation_id\",\"annotator\",\"id\",\"lead_time\","
	static const struct { const char *what, *media, *done, *want; } task[] = {
		{ "frames from 1, the last included; two labels of a range",
		    "/data/upload/12/0a1b2c3d-a.mp4", DONE("1", "1",
		    "{\"ranges\":[{\"start\":8,\"end\":12},{\"start\":5,\"end\":5}],"
		    "\"timelinelabels\":[\"walk\",\"wave\"]}"),
		    "a.mp4+_000700_001200ms|walk[0.7,1.2] "
		    "a.mp4+_000700_001200ms|wave[0.7,1.2] "
		    "a.mp4+_000400_000500ms|walk[0.4,0.5] "
		    "a.mp4+_000400_000500ms|wave[0.4,0.5]" },
		{ "seconds", "http://h/c/a%20b.mp4?x=1", DONE("1", "1",
		    "{\"start\":0.5,\"end\":1.9,\"labels\":[\"kick\"]}"),
		    "c/a b.mp4+_000500_001900ms|kick[0.5,1.9]" },
		{ "choices", "/data/local-files/?d=clips/b.mp4", DONE("1", "1",
		    "{\"choices\":[\"fall\"]}"), "clips/b.mp4|fall" },
		{ "a text is not a label", "a.mp4", DONE("1", "1",
		    "{\"text\":[\"x\"]}"), "" },
		{ "the newest annotation counts, a cancelled one does not",
		    "a.mp4", DONE("1", "2024-02", WALK) ","
		    DONE("1", "2024-01", "{\"choices\":[\"old\"]}") ","
		    "{\"was_cancelled\":true,\"updated_at\":\"2025\"}",
		    "a.mp4+_000000_000001|walk[0,1]" },
		{ "annotators who agree", "a.mp4", DONE("1", "1", WALK) ","
		    DONE("2", "2", WALK), "a.mp4+_000000_000001|walk[0,1]" },
	};
	static const char *const bad[][2] = {
		{ DONE("1", "1", WALK) "," DONE("2", "2", "{}"),
		    "list: item 1: annotators disagree" },
		{ DONE("1", "1", "{\"sequence\":[],\"labels\":[\"x\"]}"),
		    "list: item 1: boxes of objects, which vt does not use" },
		{ DONE("1", "1", "{\"ranges\":[{\"start\":0,\"end\":1}],"
		    "\"timelinelabels\":[\"x\"]}"),
		    "list: item 1: range 1 (wanted start and end, frames from 1" },
		{ DONE("1", "1", "{\"start\":2,\"end\":1,\"labels\":[\"x\"]}"),
		    "list: item 1: a result (wanted start and end in seconds" },
	};
	const char *min = "[{\"video\":\"a.mp4\",\"id\":1,\"title\":\"one\","
	    "\"events\":[" WALK "],\"annotator\":1,\"annotation_id\":7}]";
	char text[800], path[600];

	snprintf(text, sizeof(text), TASK, "a.mp4", DONE("1", "1", WALK));
	refuses("Label Studio: frames need --list-fps", text, "auto",
	    "list: item 1: frames without a frame rate, which the export lacks "
	    "(wanted --list-fps=24");
	with.fps = 10;
	for (size_t i = 0; i < sizeof(task) / sizeof(*task); i++) {
		snprintf(text, sizeof(text), TASK, task[i].media, task[i].done);
		reads(task[i].what, text, "auto", task[i].want);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		snprintf(text, sizeof(text), TASK, "a.mp4", bad[i][0]);
		refuses(bad[i][1], text, "auto", bad[i][1]);
	}
	put("0a1b2c3d-a.mp4", "x");
	snprintf(text, sizeof(text), TASK, "/data/upload/1/0a1b2c3d-a.mp4",
	    DONE("1", "1", "{\"choices\":[\"x\"]}"));
	snprintf(path, sizeof(path), "%s/0a1b2c3d-a.mp4|x", dir);
	check_read("Label Studio: an uploaded file with its prefix", "list",
	    text, "auto", dir, NULL, path);
	unlink(put("0a1b2c3d-a.mp4", ""));
	reads("Label Studio: JSON-MIN, where texts are data besides ranges",
	    min, "auto", "a.mp4+_000000_000001|walk[0,1]");
	reads("Label Studio: CSV, plain choices", HEADER "\"pose\",\"video\"\n"
	    "7,1,1,2.5,\"walk\",\"a.mp4\"\n9,1,3,2.5,\"\",\"c.mp4\"\n", "auto",
	    "a.mp4|walk");
	reads("Label Studio: TSV, a tag named label", "annotation_id\tannotator"
	    "\tid\tlabel\tlead_time\tvideo\n7\t1\t1\t\"[{\"\"ranges\"\": "
	    "[{\"\"start\"\": 1, \"\"end\"\": 10}], \"\"timelinelabels\"\": "
	    "[\"\"walk\"\"]}]\"\t2\ta.mp4\n", "auto",
	    "a.mp4+_000000_000001|walk[0,1]");
	refuses("Label Studio: CSV, two columns of texts", HEADER
	    "pose,title,video\n7,1,1,2.5,walk,one,a.mp4\n", "auto",
	    "list: pose and title are texts (wanted one of them");
	refuses("Label Studio: CSV, two annotations of a task", HEADER
	    "pose,video\n7,1,1,2,x,a.mp4\n8,2,1,2,y,a.mp4\n", "auto",
	    "list: line 3: a second annotation of its task");
	refuses("Label Studio: CSV, a cell too few", HEADER
	    "pose,video\n7,1,1,2,x\n", "auto", "line 2: 5 cells (wanted 6");
	refuses("Label Studio: CSV, broken JSON", HEADER "pose,video\n"
	    "7,1,1,2,\"{\"\"a\"\"\",a.mp4\n", "auto", "line 2: ");
	refuses("Label Studio: no video", HEADER "pose\n7,1,1,2,x\n", "auto",
	    "list: line 2: no video");
	with.fps = 0;
#undef TASK
#undef DONE
#undef WALK
#undef HEADER
}

static void
test_diving48(void)
{
	reads("Diving48: whole videos", "[{\"vid_name\":\"a_1\",\"label\":12,"
	    "\"start_frame\":0,\"end_frame\":50},{\"vid_name\":\"b\","
	    "\"label\":0}]", "auto", "a_1.mp4|12 b.mp4|0");
	refuses("Diving48: a label in words is refused",
	    "[{\"vid_name\":\"a\",\"label\":\"x\"}]", "auto",
	    "list: item 1 (wanted \"vid_name\", a text, and \"label\"");
	refuses("Diving48: an object is refused", "{\"a\":1}", "diving48",
	    "list: not a JSON array (wanted [{");
}

/* CVAT: tracks and tags as ranges of frames, attributes, steps and projects. */
static void
test_cvat(void)
{
#define TASK "<task><source>v.mp4</source></task>"
#define ALL(meta, rest) "<?xml version=\"1.0\"?>\n<annotations>" \
    "<version>1.1</version>\n<meta>" meta "</meta>\n" rest "</annotations>"
#define TRACK(shapes) "<track id=\"0\" label=\"walk\">" shapes "</track>"
#define BOX(frame, outside) "<box frame=\"" frame "\" outside=\"" outside "\"/>"
#define ACT(frame, act) "<box frame=\"" frame "\"><attribute name=\"action\">" \
    act "</attribute></box>"
#define TAG(frame, label) "<image name=\"frame_" frame "\"><tag label=\"" label \
    "\"/></image>"
	static const char *const bad[][2] = {
		{ ALL(TASK, "<track/>"), "list: line 4: a track without a label" },
		{ ALL(TASK, TRACK("<box/>")), "line 4: box without a frame" },
		{ ALL(TASK, TRACK(BOX("5", "0") BOX("4", "0"))),
		    "line 4: frame 4 after 5 (wanted shapes in the order" },
		{ ALL("", TRACK(BOX("5", "0"))), "line 4: no video (wanted <source>" },
		{ ALL(TASK, "<image name=\"a.jpg\"><tag label=\"x\"/></image>"),
		    "line 4: image a.jpg (wanted frames of a video" },
		{ ALL(TASK, "<image name=\"frame_1\"><box label=\"x\"/></image>"),
		    "list: boxes of images without tags (wanted tags, or tracks" },
		{ ALL(TASK, "<track"), "list: line 4: not valid XML" },
	};
	const char *acts = ALL(TASK, TRACK(ACT("3", "none") ACT("4", "none")
	    ACT("5", "fall") BOX("6", "1")) TRACK(BOX("8", "0")));

	reads("CVAT: with and without the frames between key frames, a track "
	    "that returns, one without its end", ALL(TASK,
	    TRACK(BOX("5", "0") BOX("6", "0") BOX("10", "1") BOX("20", "0")
	    BOX("22", "1")) TRACK(BOX("30", "0") BOX("33", "0"))), "auto",
	    "v.mp4+_f000005_f000010|walk(5,5) v.mp4+_f000020_f000022|walk(20,2) "
	    "v.mp4+_f000030_f000034|walk(30,4)");
	reads("CVAT: a frame that is listed twice", ALL(TASK, TRACK(
	    BOX("5", "0") BOX("9", "1") BOX("9", "1"))), "auto",
	    "v.mp4+_f000005_f000009|walk(5,4)");
	reads("CVAT: steps, and the last frame of the task", ALL("<task>"
	    "<stop_frame>12</stop_frame><frame_filter>step=5</frame_filter>"
	    "<source>v.mp4</source></task>", TRACK(BOX("0", "0") BOX("5", "1"))
	    TRACK(BOX("10", "0"))), "auto",
	    "v.mp4+_f000000_f000005|walk(0,5) v.mp4+_f000010_f000013|walk(10,3)");
	reads("CVAT: the tasks of a project", ALL("<project><tasks>"
	    "<task><id>1</id><source>a.mp4</source></task>"
	    "<task><id>2</id><source>b.mp4</source></task></tasks></project>",
	    "<track label=\"run\" task_id=\"2\">" BOX("1", "0") "</track>"
	    "<track label=\"run\" task_id=\"1\">" BOX("1", "0") "</track>"),
	    "auto", "b.mp4+_f000001_f000002|run(1,1) "
	    "a.mp4+_f000001_f000002|run(1,1)");
	reads("CVAT: tags of frames in a row", ALL(TASK, TAG("000009", "walk")
	    TAG("000010", "walk") "<image name=\"frame_000011\"/>"
	    TAG("000012", "walk") TAG("000013", "run")), "auto",
	    "v.mp4+_f000009_f000011|walk(9,2) v.mp4+_f000012_f000013|walk(12,1) "
	    "v.mp4+_f000013_f000014|run(13,1)");
	reads("CVAT: without --label-attribute a track is one range", acts,
	    "auto", "v.mp4+_f000003_f000006|walk(3,3) "
	    "v.mp4+_f000008_f000009|walk(8,1)");
	with.attribute = "action";
	reads("CVAT: with it, each value is one", acts, "auto",
	    "v.mp4+_f000003_f000005|walk:none(3,2) "
	    "v.mp4+_f000005_f000006|walk:fall(5,1) "
	    "v.mp4+_f000008_f000009|walk(8,1)");
	with.attribute = NULL;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		refuses(bad[i][1], bad[i][0], "auto", bad[i][1]);
	refuses("CVAT: other XML is refused", "<a/>", "cvat",
	    "list: line 1: <a> (wanted <annotations> with tracks");
#undef TASK
#undef ALL
#undef TRACK
#undef BOX
#undef ACT
#undef TAG
}

static void
test_elan(void)
{
#define ALL(media, tiers) "<?xml version=\"1.0\"?>\n<ANNOTATION_DOCUMENT A=\"\">" \
    "<HEADER>" media "</HEADER>\n<TIME_ORDER>" \
    "<TIME_SLOT TIME_SLOT_ID=\"t1\" TIME_VALUE=\"500\"/>" \
    "<TIME_SLOT TIME_SLOT_ID=\"t2\"/>" \
    "<TIME_SLOT TIME_SLOT_ID=\"t3\" TIME_VALUE=\"1700\"/>" \
    "</TIME_ORDER>\n" tiers "</ANNOTATION_DOCUMENT>"
#define MEDIA(more) "<MEDIA_DESCRIPTOR MEDIA_URL=\"file:///C:/x/a.mp4\" " more "/>"
#define TIER(name, annotations) "<TIER TIER_ID=\"" name "\">" annotations "</TIER>"
#define SPAN(from, to, value) "<ANNOTATION><ALIGNABLE_ANNOTATION " \
    "ANNOTATION_ID=\"a1\" TIME_SLOT_REF1=\"" from "\" TIME_SLOT_REF2=\"" to \
    "\"><ANNOTATION_VALUE>" value "</ANNOTATION_VALUE>" \
    "</ALIGNABLE_ANNOTATION></ANNOTATION>"
#define REFERS(to) "<ANNOTATION><REF_ANNOTATION ANNOTATION_ID=\"a2\" " \
    "ANNOTATION_REF=\"" to "\"><ANNOTATION_VALUE>left</ANNOTATION_VALUE>" \
    "</REF_ANNOTATION></ANNOTATION>"
	static const char *const bad[][2] = {
		{ ALL(MEDIA(""), TIER("x", SPAN("t1", "t3", "a")) TIER("y",
		    SPAN("t1", "t3", "b"))), "list: 2 tiers with times (wanted "
		    "--tier=NAME, one of x, y)" },
		{ ALL(MEDIA(""), ""), "list: 0 tiers with times" },
		{ ALL("", TIER("x", SPAN("t1", "t3", "a"))), "list: no video" },
		{ ALL(MEDIA(""), TIER("x", SPAN("t1", "t2", "a"))),
		    "list: line 4: annotation a (wanted slots with TIME_VALUE" },
		{ ALL(MEDIA(""), TIER("x", SPAN("t3", "t1", "a"))),
		    "list: line 4: annotation a (wanted slots with TIME_VALUE" },
		{ ALL(MEDIA("TIME_ORIGIN=\"-600\""), TIER("x", SPAN("t1", "t3",
		    "a"))), "list: line 4: annotation a (wanted slots" },
		{ ALL(MEDIA("TIME_ORIGIN=\"x\""), TIER("x", SPAN("t1", "t3",
		    "a"))), "list: line 2: TIME_ORIGIN x (wanted milliseconds" },
	};
	const char *two = ALL(MEDIA("RELATIVE_MEDIA_URL=\"./a%20b.mp4\" "
	    "TIME_ORIGIN=\"1000\""), TIER("hand", SPAN("t1", "t3", "wave")
	    SPAN("t1", "t3", "")) TIER("side", REFERS("a1"))
	    TIER("loop", REFERS("a2")));

	reads("ELAN: the only tier with times, a medium that begins earlier",
	    two, "auto", "a b.mp4+_001500_002700ms|wave[1.5,2.7]");
	with.tier = "side";
	reads("ELAN: a tier that refers to another one has its times", two,
	    "auto", "a b.mp4+_001500_002700ms|left[1.5,2.7]");
	with.tier = "x";
	refuses("ELAN: an unknown tier", two, "auto",
	    "list: 0 tiers x (wanted --tier=NAME, one of hand, side, loop)");
	with.tier = "loop";
	refuses("ELAN: annotations that refer to themselves", ALL(MEDIA(""),
	    TIER("loop", REFERS("a2"))), "auto", "line 4: annotation left");
	with.tier = NULL;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		refuses(bad[i][1], bad[i][0], "auto", bad[i][1]);
	refuses("ELAN: other XML is refused", "<a/>", "elan",
	    "list: line 1: <a> (wanted <ANNOTATION_DOCUMENT>");
#undef ALL
#undef MEDIA
#undef TIER
#undef SPAN
#undef REFERS
}

static void
test_via(void)
{
#define TOP "# Exported using VGG Image Annotator\n"
#define SEGMENTS TOP "# CSV_HEADER = metadata_id,file_list," \
    "temporal_segment_start,temporal_segment_end,metadata\n"
#define FULL TOP "# ATTRIBUTE = {\"1\":{\"aname\":\"act\",\"options\":" \
    "{\"0\":\"walk\",\"1\":\"run\"}},\"2\":{\"aname\":\"note\"," \
    "\"options\":{}}}\n# CSV_HEADER = metadata_id,file_list,flags," \
    "temporal_coordinates,spatial_coordinates,metadata\n"
#define ROW(times, box, metadata) "\"1_a\",\"[\"\"a.mp4\"\"]\",0,\"" times \
    "\",\"" box "\",\"{" metadata "}\"\n"
#define BOTH FULL ROW("[0.5,2]", "[]", "\"\"1\"\":\"\"0,1\"\",\"\"2\"\":" \
    "\"\"x, y\"\"")
	static const char *const bad[][2] = {
		{ BOTH, "list: line 4: several attributes (wanted "
		    "--label-attribute=NAME" },
		{ FULL ROW("[2]", "[]", "\"\"1\"\":\"\"0\"\""),
		    "list: line 4: an instant (wanted --around=2s" },
		{ FULL ROW("[2,1]", "[]", "\"\"1\"\":\"\"0\"\""),
		    "list: line 4: times [2,1] (wanted [BEGIN,END] in seconds" },
		{ FULL ROW("[2,3]", "[2,1,1,5,5]", "\"\"1\"\":\"\"0\"\""),
		    "list: line 4: a box of an object" },
		{ SEGMENTS "\"1\",\"[]\",0,1,\"{}\"\n",
		    "list: line 3: file_list (wanted one video" },
		{ SEGMENTS "\"1\",\"[\",0,1,\"{}\"\n",
		    "list: line 3: file_list" },
		{ TOP, "list: no header (wanted # CSV_HEADER" },
		{ TOP "# ATTRIBUTE = {\n", "list: line 2: ATTRIBUTE" },
	};

	reads("VIA: segments, whose labels may be numbers of options", SEGMENTS
	    "\"1\",\"[\"\"a.mp4\"\"]\",0.5,1.7,\"{\"\"act\"\":\"\"walk\"\"}\"\n"
	    "\"2\",\"[\"\"a.mp4\"\"]\",2,3,\"{\"\"act\"\":\"\"2\"\"}\"\n"
	    "\"3\",\"[\"\"a.mp4\"\"]\",4,5,\"{\"\"act\"\":\"\"\"\"}\"", "auto",
	    "a.mp4+_000500_001700ms|walk[0.5,1.7] a.mp4+_000002_000003|2[2,3]");
	reads("VIA: a whole video", FULL ROW("[]", "[]",
	    "\"\"2\"\":\"\"x, y\"\""), "auto", "a.mp4|x, y");
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		refuses(bad[i][1], bad[i][0], "auto", bad[i][1]);
	with.attribute = "act";
	reads("VIA: each option that is chosen, of the attribute that is named",
	    BOTH, "auto", "a.mp4+_000500_002000ms|walk[0.5,2] "
	    "a.mp4+_000500_002000ms|run[0.5,2]");
	with.around = 1;
	reads("VIA: a clip around an instant", FULL ROW("[2.25]", "[]",
	    "\"\"1\"\":\"\"1\"\""), "auto",
	    "a.mp4+_001750_002750ms|run[1.75,2.75]");
	with.around = 0;
	with.attribute = NULL;
#undef TOP
#undef SEGMENTS
#undef FULL
#undef ROW
#undef BOTH
}

static void
test_datasets(void)
{
	static const char head[] = "narration_id,video_id,start_timestamp,"
	    "stop_timestamp,start_frame,stop_frame,verb_class,noun_class\n";
	char *text = xprintf("%sn,P01_01,00:00:00.50,00:01:01.70,29,101,3,4\n",
	    head), *bad = xprintf("%sn,P01_01,0.5,0.4,1,2,3,4\n", head);

	reads("EPIC-KITCHENS: timestamps, not frames", text, "auto",
	    "P01_01.MP4+_000500_061700ms|3[0.5,61.7]");
	refuses("EPIC-KITCHENS: a part that ends before it begins", bad, "auto",
	    "list: line 2: stop_timestamp 0.4 (wanted a time after 0.5");
	free(text);
	free(bad);
	reads("FineGym: a clip of an id with _E_ in it",
	    "a_E_b_E_002184_002237_A_0000_0001 15\n", "auto",
	    "a_E_b_E_002184_002237_A_0000_0001.mp4|15");
	refuses("FineGym: another name",
	    "a_E_002184_002237_A_0000_0001 15\nb 3\n", "finegym",
	    "list: line 2: \"b 3\" (wanted ID_E_SSSSSS_EEEEEE_A_");
	reads("Moments in Time: votes are not read",
	    "run/a.mp4,run,3,0\nrun/b.mp4,run,4,1\n", "auto",
	    "run/a.mp4|run run/b.mp4|run");
	refuses("Moments in Time: a folder of another class",
	    "run/a.mp4,walk,3,0\n", "moments",
	    "list: line 1: run/a.mp4,walk,3,0 (wanted LABEL/NAME.mp4,LABEL");
}

/* Files of other programs, and lists that look like two formats. */
static void
test_foreign(void)
{
	static const char *const files[][2] = {
		{ "<?xml version=\"1.0\"?>\n<annotations>\n<version>1.1",
		    "list: line 3: not valid XML (wanted the end of" },
		{ "<!DOCTYPE html>\n<p>", "line 1: a web page" },
		{ "\357\273\277WEBVTT\n\n00:00.500 --> 00:01.700\nwave\n",
		    "line 1: WebVTT subtitles" },
		{ "1\r\n00:00:00,500 --> 00:00:01,700\r\nwave\r\n",
		    "line 1: SubRip subtitles" },
		{ "filename,file_size,a\na.png,1,2\n", "line 1: VIA 2 CSV" },
		{ "file,column,g.ordinal,g.onset,g.offset,g.type\ns,g,1,0,9,x\n",
		    "line 1: Datavyu CSV (wanted" },
		{ "# my list\na.mp4 1\n", "line 1: a comment" },
		{ "{}", "line 1: JSON (wanted" },
		{ "[{\"id\":\"1\",\"video\":\"a.mp4\",\"label\":\"x\"}]",
		    "line 1: JSON (wanted" },
		{ "[{\"id\":\"1\",\"template\":\"x\"", "list" },
		{ "path,label\na.mp4,\"[{\"\"ranges\"\":1}]\"\n",
		    "line 2: label is JSON" },
		{ "a,0902,0.077,0.151,0.283,0.811,80,1\n",
		    "line 1: AVA boxes of persons, which vt does not train on" },
		{ "SIL\nSIL\ntake_cup\n", "line 1: a label in each line" },
		{ "v_1  0.5 1.7\nv_1  2.2 3.5\n", "line 1: THUMOS14" },
		{ "a.mp4 0 10 25\nb.mp4 1 5 15\n",
		    "line 1: a file and three numbers, the third above the second" },
		{ "a.mp4 0 0.5 1.7\n", "line 1: 3 words after a.mp4 (wanted a" },
		{ "a.mp4 walk 0.5 1.7 50 10\n", "line 1: 5 words after a.mp4" },
		{ "a.mp4,0,10,25\n", "line 1: 4 fields without a header" },
		{ "w/a.mp4,12,40\nf/b.mp4,7\n",
		    "line 2: 2 fields, but 3 in line 1" },
		{ "walk,a.mp4\nrun,b.mp4\n", "line 1: the path is field 2" },
		{ "a.mp4,0.5,1.7\n", "line 1: label 1.7 (wanted an integer or a name; for" },
		{ "v_1  1 2.5\nv_2  1.0 3\n", "line 1: label 2.5 (wanted an integer" },
		{ "frame,label\n0,walk\n", "line 1: frame,label: a header without "
		    "the videos (wanted a column path" },
		{ "Mine\npath,label\na.mp4,walk\n", "line 2: a header (wanted it" },
		{ "a.mp4:\n  label: walk\n", "line 1: YAML" },
		{ "{'a.mp4': 'walk'}\n", "line 1: a Python literal" },
		{ "1-30 SIL\n31-45 take_cup\n", "line 1: Breakfast" },
		{ "PK\3\4", "line 1: a zip archive, such as .xlsx" },
		{ "clip,what\na.mp4,walk\nb.mp4,run\n", "line 1: clip,what: a "
		    "header without a name that vt reads (wanted one of path" },
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		refuses(files[i][1], files[i][0], "auto", files[i][1]);
}

static void
test_background(void)
{
	const char *parts = "path,label,time_start,time_end,split\n"
	    "a.mp4,x,7,9,train\na.mp4,y,1,4,train\na.mp4,x,2,3,train\n"
	    "b.mp4,x,5,6,train\na.mp4,x,9.9,12,train\na.mp4,y,14,,test\n"
	    "a.mp4,x,20,21,train\n";

	with.background = "none";
	reads("--background: gaps of a second between parts that may overlap",
	    parts, "auto", "a.mp4+_000007_000009|x[7,9] "
	    "a.mp4+_000001_000004|y[1,4] a.mp4+_000002_000003|x[2,3] "
	    "b.mp4+_000005_000006|x[5,6] a.mp4+_009900_012000ms|x[9.9,12] "
	    "a.mp4+_000014_000000|y[14,0] a.mp4+_000020_000021|x[20,21] "
	    "a.mp4+_000004_000007|none[4,7] a.mp4+_000012_000014|none[12,14]");
	check_read("--background with --subset: gaps of the subset", "list",
	    parts, "auto", NULL, "test", "a.mp4+_000014_000000|y[14,0] "
	    "a.mp4+_000012_000014|none[12,14]");
	reads("--background: whole videos have no gaps",
	    "path,label\na.mp4,x\nb.mp4,x\n", "auto", "a.mp4|x b.mp4|x");
	reads("--background: gaps of 16 frames",
	    "path,label,frame_start,frame_end\na.mp4,x,0,9\na.mp4,x,24,30\n"
	    "a.mp4,x,46,50\n", "auto", "a.mp4+_f000000_f000009|x(0,9) "
	    "a.mp4+_f000024_f000030|x(24,6) a.mp4+_f000046_f000050|x(46,4) "
	    "a.mp4+_f000030_f000046|none(30,16)");
	with.background = NULL;
}

static void
test_subsets(void)
{
	const char *kinetics = "label,youtube_id,time_start,time_end,split\n"
	    "run,a,1,11,train\nwalk,b,2,12,val\nrun,c,3,13,train\n";
	const char *hmdb51 = "#20_Rhythm (x)_goo_0.avi 1 \nb.avi 2\nc d.avi 0\n";

	check_read("Kinetics: the rows of a subset",
	    "list", kinetics, "auto", NULL,
	    "train", "a_000001_000011.mp4|run c_000003_000013.mp4|run");
	check_refused("Kinetics: a subset without rows is refused",
	    "list", kinetics, "auto", "test",
	    "no row of the subset test, of 3 rows");
	check_read("HMDB51: training videos",
	    "clap_test_split1.txt", hmdb51, "auto",
	    NULL, "train", "clap/#20_Rhythm (x)_goo_0.avi|clap");
	check_read("testing", "clap_test_split1.txt", hmdb51, "auto", NULL,
	    "test", "clap/b.avi|clap");
	check_refused("HMDB51: a list without --subset is refused",
	    "clap_test_split1.txt",
	    hmdb51, "auto", NULL, "wanted --subset=train or");
	check_refused("HMDB51: an unknown use is refused",
	    "clap_test_split1.txt",
	    "a.avi 1\nb.avi 3\n", "hmdb51", "train", "line 2: \"b.avi 3\"");
	check_refused("another name", "clap.txt", "a.avi 1\n", "hmdb51",
	    "train", "not named like a list of HMDB51");
	check_refused("a list without subsets", "list", "a.mp4 1\n", "auto",
	    "train", "has no subsets (--subset=train)");
	unlink(put("clap.txt", ""));
	unlink(put("clap_test_split1.txt", ""));
}

static void
test_patterns(void)
{
	struct list_how how = { .format = 0, .subset = "train" };
	struct list l = { 0 };
	char pattern[600];

	put("wave_test_split1.txt", "a.avi 1\nb.avi 2\n");
	put("clap_test_split1.txt", "c.avi 1\n");
	put("clap_test_split2.txt", "d.avi 1\n");
	snprintf(pattern, sizeof(pattern), "%s/*_test_split1.txt", dir);
	ok(list_read(&l, pattern, &how) == 0,
	    "HMDB51: a pattern of file names is read");
	is_text(rows(&l), "clap/c.avi|clap wave/a.avi|wave",
	    "HMDB51: files of a pattern are in the order of their names");
	list_free(&l);
	snprintf(pattern, sizeof(pattern), "%s/*.none", dir);
	said_begin(why, sizeof(why));
	ok(list_read(&l, pattern, &how) == -1,
	    "a pattern without files is refused");
	said_end();
	ok(strstr(why, "no file matches this pattern") != NULL, "which is said: %s",
	    why);
	list_free(&l);
	unlink(put("wave_test_split1.txt", ""));
	unlink(put("clap_test_split1.txt", ""));
	unlink(put("clap_test_split2.txt", ""));
	put("1.csv", "path,label\na.mp4,run\n");
	put("2.csv", "path,label,split\nb.mp4,run,train\n");
	snprintf(pattern, sizeof(pattern), "%s/?.csv", dir);
	said_begin(why, sizeof(why));
	ok(list_read(&l, pattern, &how) == -1,
	    "a pattern with a file without subsets is refused");
	said_end();
	ok(strstr(why, "1.csv: CSV has no subsets") != NULL,
	    "the message names the file: %s", why);
	list_free(&l);
	unlink(put("1.csv", ""));
	unlink(put("2.csv", ""));
}

/*
 * If the whole video exists, a row is a part of it; if the cut video exists,
 * the row is that file.
 */
static void
test_parts(void)
{
	struct list_how how = { .format = 0, .root = dir };
	const char *text = "label,youtube_id,time_start,time_end\n"
	    "run,whole,12,22\nrun,whole,1.5,3\nrun,cut,5,15\n";
	struct list l = { 0 };
	char want[2048];

	put("whole.webm", "x");
	put("cut_000005_000015.mp4", "x");
	put("cut.mp4", "x");
	ok(list_read(&l, put("list", text), &how) == 0,
	    "Kinetics: a list of uncut videos is read");
	snprintf(want, sizeof(want), "%1$s/whole.webm+_000012_000022|run[12,22] "
	    "%1$s/whole.webm+_001500_003000ms|run[1.5,3] "
	    "%1$s/cut_000005_000015.mp4|run", dir);
	is_text(rows(&l), want,
	    "Kinetics: parts of whole videos, and cut videos as they are");
	list_free(&l);
	reads("CSV with times", "path,label,time_start,time_end\na.mp4,x,2,4\n"
	    "b.mp4,y,,\nc.mp4,x,3,\n", "auto",
	    "a.mp4+_000002_000004|x[2,4] b.mp4|y "
	    "c.mp4+_000003_000000|x[3,0]");
	unlink(put("whole.webm", ""));
	unlink(put("cut_000005_000015.mp4", ""));
	unlink(put("cut.mp4", ""));
}

/*
 * Return the class numbers, "0 -1,2,3", of the rows of ${text}, with the number
 * of classes and the last class; or the message.  Valid until the next call.
 */
static const char *
numbers(const char *text, const char *f, const char *classes, int sorted)
{
	static struct buffer b;
	struct list_how how = { .format = text_choice(list_format_choices, f) };
	struct class_list c = { 0 };
	struct list l = { 0 };
	int r;

	b.n = 0;
	said_begin(why, sizeof(why));
	r = list_read(&l, put("list", text), &how);
	if (r == 0 && classes != NULL)
		r = list_classes(put("classes", classes), sorted, &c);
	if (r == 0)
		r = list_number(&l, &c, "classes");
	said_end();
	buffer_text(&b, r == 0 ? "" : why);
	for (size_t i = 0; i < l.n && r == 0; i++) {
		const struct sample *s = &l.row[i].sample;

		buffer_printf(&b, "%s%d", i > 0 ? " " : "", s->label);
		for (int k = 0; k < s->nlabels; k++)
			buffer_printf(&b, ",%d", s->labels[k].class);
	}
	buffer_printf(&b, " of %zu %s", c.n, c.n > 0 ? c.name[c.n - 1] : "");
	list_free(&l);
	class_list_free(&c);
	return b.data;
}

/*
 * Return the classes of ${text}, "a,b", as vt-pack and vt-extract read them
 * from a pipe, or the message.  Valid until the next call.
 */
static const char *
classes_of_pipe(const char *text, size_t n, int extract)
{
	static struct buffer b;
	struct class_list c = { 0 };
	char path[32];
	int fd[2], r;

	if (pipe(fd) != 0 || write(fd[1], text, n) != (ssize_t)n)
		exit(1);
	close(fd[1]);
	snprintf(path, sizeof(path), "/dev/fd/%d", fd[0]);
	said_begin(why, sizeof(why));
	r = extract ? list_classes(path, 0, &c) : class_read(path, &c);
	said_end();
	close(fd[0]);
	b.n = 0;
	buffer_text(&b, r == 0 ? "" : why);
	for (size_t i = 0; i < c.n && r == 0; i++)
		buffer_printf(&b, "%s%s", i > 0 ? "," : "", c.name[i]);
	class_list_free(&c);
	return b.data;
}

static void
test_class_files(void)
{
	static const char utf16[] = "\377\376w\0\n\0r\0\n";

	for (int extract = 0; extract <= 1; extract++) {
		const char *by = extract ? "vt-extract" : "vt-pack";

		ok(strcmp(classes_of_pipe("\357\273\277walk \r\n run\t\r\n \r\n\r\n",
		    21, extract), "walk,run") == 0, "%s: a class file with a byte "
		    "order mark, CR LF, blanks and empty lines at the end, from a "
		    "pipe: %s", by, why);
		ok(strstr(classes_of_pipe(utf16, sizeof(utf16), extract),
		    "UTF-16LE (wanted UTF-8") != NULL,
		    "%s: a class file in UTF-16 is refused by that name", by);
		ok(strstr(classes_of_pipe("walk\n\nrun\n", 10, extract),
		    "class 1: empty") != NULL,
		    "%s: an empty line between classes is refused", by);
	}
	is_text(classes_of_pipe("\357\273\277{\"b\":0,\"a\":1}", 16, 1), "b,a",
	    "a JSON object with a byte order mark, from a pipe");
	is_text(classes_of_pipe("1 b \r\n2 a \r\n", 12, 1), "b,a",
	    "numbered classes with CR LF, from a pipe");
}

static void
test_numbers(void)
{
	is_text(numbers("a.mp4,0.0\nb.mp4,1.0\nc.mp4,2.\nd.mp4,10\n", "auto",
	    NULL, 0), "0 1 2 10 of 0 ", "labels as floats are numbers");
	is_text(numbers("path,label\na.mp4,1.0\nb.mp4,1.5\n", "csv",
	    NULL, 0), "0 1 of 2 1.5", "labels with decimals are names");
	is_text(numbers("1;b\n2;a\n3;c\n", "auto", "c\nb\na\n", 0),
	    "1 2 0 of 3 a",
	    "Something-Something v1: numbered in the order of the class file");
	is_text(numbers("1;b\n2;a\n3;c\n", "auto", "c\nb\na\n", 1),
	    "1 0 2 of 3 c",
	    "Something-Something v1: numbered in sorted order, as TSM does");
	is_text(numbers("1;b\n2;a\n", "auto", "{\"b\":\"0\",\"a\":\"1\"}", 0),
	    "0 1 of 2 a", "Something-Something v2: numbers of the class file");
	ok(strstr(numbers("1;b\n", "auto", "{\"b\":0,\"a\":0}", 0),
	    "class 0 is b and a") != NULL,
	    "a class number given twice is refused: %s",
	    why);
	ok(strstr(numbers("1;b\n", "auto", "{\"b\":5}", 0),
	    "class b has no number from 0 to 0") != NULL,
	    "a missing class number is refused: %s", why);
	is_text(numbers("id,actions\na,c003 0 1;c001 2 3\n", "auto", NULL, 0),
	    "-1,3,1 of 157 c156", "Charades: all 157 classes by default");
	is_text(numbers("id,actions\na,c001 0 1\n", "auto",
	    "c000 Holding some clothes\nc001 Putting clothes somewhere\n", 0),
	    "-1,1 of 2 Putting clothes somewhere",
	    "Charades: the classes of a class file");
	ok(strstr(numbers("id,actions\na,c002 0 1\n", "auto",
	    "c000 x\nc001 y\n", 0), "list: line 2: a.mp4: label 2 (wanted 0 to "
	    "1)") != NULL,
	    "Charades: a code beyond the class file is refused: %s", why);
	is_text(numbers("a.mp4 7 9 12\nb.mp4 1\n", "auto", NULL, 0),
	    "-1,7,9,12 -1,1 of 0 ", "MMAction2: several labels are numbers");
	is_text(numbers("Archery/v_Archery_g01_c01.avi\n", "auto",
	    "1 ApplyEyeMakeup\n2 Archery\n", 0), "1 of 2 Archery",
	    "UCF101: a test list with classInd.txt");
	is_text(numbers("Archery/v_Archery_g08_c01.avi 2\n", "auto",
	    "1 ApplyEyeMakeup\n2 Archery\n", 0), "1 of 2 Archery",
	    "UCF101: a training list with classInd.txt");
}

/*
 * Append all that the rows of ${l} hold, except their lines, to ${to}: class
 * numbers of column 0, texts of the others.
 */
static void
dump(const struct list *l, struct buffer *to)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct list_row *r = &l->row[i];
		const struct list_part *p = &r->part;
		int n = 0;

		buffer_printf(to, "%s %s %s %s %s %s %d %g-%g of %d, ",
		    r->path, r->sample.source, r->sample.key,
		    r->name != NULL ? r->name : "-", r->split != NULL ?
		    r->split : "-", r->group != NULL ? r->group : "-",
		    (int)p->unit, p->begin, p->end, (int)p->frames);
		buffer_printf(to, "%s%d", r->has_set ? "set " : "",
		    r->sample.label);
		for (int k = 0; k < r->nlabels; k++) {
			const struct list_label *s = &r->label[k];

			if (s->column > 0)
				buffer_printf(to, ";%s:%s", l->column[s->column],
				    s->text);
			else if (r->has_set)
				buffer_printf(to, ";%d",
				    r->sample.labels[n++].class);
			buffer_printf(to, "@%d %g-%g", (int)s->unit, s->from,
			    s->to);
		}
		buffer_text(to, "\n");
	}
}

/* Read the list ${path} and dump its rows to ${to}.  Write them as a CSV to
 * ${csv} if it is not NULL. */
static int
read_dump(const char *path, const struct list_how *how, struct buffer *to,
    struct buffer *csv)
{
	struct class_list c = { 0 };
	struct list l = { 0 };
	int result = list_read(&l, path, how);

	if (result == 0)
		result = list_number(&l, &c, "classes");
	if (result == 0)
		result = list_keys(&l, NULL, 0);
	if (result == 0)
		dump(&l, to);
	if (result == 0 && csv != NULL)
		result = list_write(&l, NULL, how->group, csv);
	for (size_t i = 0; i < c.n && result == 0; i++)
		buffer_printf(to, "%s,", c.name[i]);
	list_free(&l);
	class_list_free(&c);
	return result;
}

/* The rows of each format are the same when read from the CSV of list_write. */
static void
test_round_trip(void)
{
	static const struct { const char *format, *group, *text; } list[] = {
		{ "ssv2", NULL, "[{\"id\":\"7\",\"template\":\"Put [a, \\\"b\\\"]\"}]" },
		{ "activitynet", NULL, "{\"database\":{\"a\":{\"subset\":\"training\","
		    "\"annotations\":[{\"segment\":[0.5,2],\"label\":\"x, y\"}]}}}" },
		{ "boris", NULL, "Observation id,Source,Behavior,Behavior type,Start (s),"
		    "Stop (s)\no,player #1:a.mp4,\"x, y\",STATE,0.5,1.7\n" },
		{ "label-studio", NULL, "annotation_id,annotator,lead_time,pose,video\n"
		    "1,1,2,\"x, y\",a.mp4\n2,1,2,z,b.mp4\n" },
		{ "cvat", NULL, "<annotations><meta><task><source>a.mp4</source></task>"
		    "</meta><track label=\"x, y\"><box frame=\"3\"/></track>"
		    "</annotations>" },
		{ "diving48", NULL, "[{\"vid_name\":\"a\",\"label\":7}]" },
		{ "elan", NULL, "<ANNOTATION_DOCUMENT><HEADER><MEDIA_DESCRIPTOR "
		    "MEDIA_URL=\"v.mp4\"/></HEADER><TIME_ORDER><TIME_SLOT "
		    "TIME_SLOT_ID=\"a\" TIME_VALUE=\"5\"/><TIME_SLOT "
		    "TIME_SLOT_ID=\"b\" TIME_VALUE=\"9\"/></TIME_ORDER><TIER "
		    "TIER_ID=\"x\"><ANNOTATION><ALIGNABLE_ANNOTATION "
		    "TIME_SLOT_REF1=\"a\" TIME_SLOT_REF2=\"b\">"
		    "<ANNOTATION_VALUE>y</ANNOTATION_VALUE>"
		    "</ALIGNABLE_ANNOTATION></ANNOTATION></TIER>"
		    "</ANNOTATION_DOCUMENT>" },
		{ "via", NULL, "metadata_id,file_list,temporal_segment_start,"
		    "temporal_segment_end,metadata\n1,\"[\"\"a.mp4\"\"]\",1,2,"
		    "\"{\"\"x\"\":\"\"y\"\"}\"\n" },
		{ "epic-kitchens", NULL, "narration_id,video_id,start_timestamp,"
		    "stop_timestamp,verb_class\nn,a,0:01.5,0:02,3\n" },
		{ "finegym", NULL, "a_E_000001_000002_A_0000_0001 15\n" },
		{ "moments", NULL, "x/a.mp4,x,3,0\n" },
		{ "charades-frames", NULL, "original_vido_id video_id frame_id "
		    "path labels\nAB 0 0 AB/1.jpg \"12,59\"\nAB 0 1 AB/2.jpg "
		    "\"12\"\nCD 1 3 CD/3.jpg \"\"\n" },
		{ "csv", "who", "path,label,time_start,time_end,split,who,"
		    "claimed_frames\na.mp4,\" x, y \",0.1,1.7,train,me,\n"
		    "b.mp4,z,,2,,you,\nc,w,,,val,me,9\n" },
		{ "csv", NULL, "path,label,frame_start,frame_end\na,x,0,9\n"
		    "a,x,,4\na,x,5,9\n" },
		{ "csv", NULL, "path,label_set\na.mp4,groom 0.5 1.7;\"a; \"\"b\"\" 2\""
		    " f0 f9;c012x;\"none\"\nb.mp4,none\n" },
		{ "csv", NULL, "path,label:verb,label:noun,label\na.mp4,take,"
		    "\"cup, red\",x\nb.mp4,put,,y\n" },
		{ "csv", NULL, "path,label_set:verb,label_set:noun\na.mp4,"
		    "take 0 1.5;put 1 2,cup\nb.mp4,,plate f3 f4\n" },
		{ "hacs", NULL, "classname,youtube_id,subset,start,end,label\n"
		    "Ice fishing,a,training,1,2.5,1\nx,b,training,1,3,-1\n" },
		{ "kinetics", NULL, "label,youtube_id,time_start,time_end,split\n"
		    "run,a,1,11,train\nwalk,b,2,12,val\nrun,c,0.5,1.7,train\n" },
		{ "charades", NULL, "id,actions\na,c003 0 1;c001 2 3.25\nb,\n" },
		{ "hmdb51", NULL, "a b.avi 1\nc.avi 2\n" },
		{ "ucf101", NULL, "A/v_A_g01_c01.avi 3\nB/v_B_g01_c01.avi 1\n" },
		{ "ssv1", NULL, "7;Opening, closing\n8;a\n" },
		{ "mmaction2", NULL, "a.mp4 7 9 12\nb.mp4 1\n" },
		{ "tsm", NULL, "v/a 300 7\nv/b 12 0\n" },
		{ "mmaction2-offset", NULL, "v/a 120 300 7\nv/a 0 30 8\n" },
		{ "mmaction2-frames", NULL, "v/a 300 7 9\nv/b 20 1\n" },
		{ "pyslowfast", NULL, "c/a.mp4 7\nc/b.mp4 x 3\nc/c.mp4\n" },
		{ "path-label", NULL, "a b.mp4 run\nc.mp4 walk\n" },
		{ "auto", NULL, "a.mp4 300 3\nb.mp4 40 4\n" },
	};
	const size_t n = sizeof(list) / sizeof(*list);

	for (const struct list_format *f = list_formats; f->name != NULL; f++) {
		size_t i = 0;

		while (i < n && strcmp(list[i].format, f->name) != 0)
			i++;
		ok(i < n, "%s: a list goes through CSV", f->name);
	}
	for (size_t i = 0; i < n; i++) {
		struct buffer rows = { 0 }, again = { 0 }, csv = { 0 };
		const struct list_how how = { .format = text_choice(
		    list_format_choices, list[i].format), .all = 1,
		    .group = list[i].group }, from_csv = { .group =
		    list[i].group };
		char *path = xstrdup(put("run_test_split1.txt", list[i].text));
		int r;

		said_begin(why, sizeof(why));
		r = read_dump(path, &how, &rows, &csv);
		if (r == 0)
			r = read_dump(put("list", csv.data), &from_csv, &again,
			    NULL);
		said_end();
		if (!ok(r == 0 && strcmp(rows.data, again.data) == 0,
		    "%s: the rows are those of their CSV", list[i].format))
			diag("%s%s\nread: %s\nCSV: %s\nread again: %s", why,
			    list[i].text, rows.data, csv.data, again.data);
		unlink(path);
		free(path);
		buffer_free(&rows);
		buffer_free(&again);
		buffer_free(&csv);
	}
}

int
main(void)
{
	program_start("lists");
	program_quiet(1);
	if (mkdtemp(dir) == NULL)
		return 1;
	test_numbered();
	test_something();
	test_charades();
	test_times();
	test_cells();
	test_hacs();
	test_activitynet();
	test_boris();
	test_label_studio();
	test_cvat();
	test_diving48();
	test_elan();
	test_via();
	test_datasets();
	test_foreign();
	test_background();
	test_subsets();
	test_patterns();
	test_parts();
	test_class_files();
	test_numbers();
	test_round_trip();
	unlink(put("list", ""));
	unlink(put("classes", ""));
	rmdir(dir);
	return done();
}
