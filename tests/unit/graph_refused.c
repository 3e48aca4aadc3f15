/*
 * The .net language, refused networks: each fault gives one message that names
 * its line, and reading takes bounded time.
 */
#include <unistd.h>

#include "base/fail.h"
#include "base/mem.h"
#include "graph/graph.h"

#include "said.h"
#include "tap.h"

#define HEAD "input x out=3\n"
#define TAIL "\navgpool p in=last over=thw\nlinear fc in=p out=classes\n"
#define SCORES "avgpool p in=x over=thw\nlinear s in=p out=classes\n"
#define TAIL2 "\nrelu last in=x" TAIL

static const struct { const char *text, *says; } wrong[] = {
	/* lines */
	{ HEAD "konv c in=x out=8\n",
	    "t.net:2: no operator or block is named konv" },
	{ HEAD "\n# a comment\n\tconv\n", "t.net:4: conv has no name" },
	{ HEAD "conv c in=x out\n", "t.net:2: out (wanted key=value)" },
	{ HEAD "conv c in=x =8\n", "t.net:2: =8 (wanted key=value)" },
	{ HEAD "conv a,b in=x out=8\n", "t.net:2: name a,b (wanted up to 63 "
	    "letters, digits, '_', '.' and '-')" },
	{ HEAD "conv "
	    "a123456789012345678901234567890123456789012345678901234567890123"
	    " in=x out=8\n", "t.net:2: name a1234567890" },
	{ HEAD "relu x in=x\n", "t.net:2: x is defined twice" },
	{ "relu r in=x\n", "t.net:1: relu before the input" },
	{ HEAD "# M\xfcller\n", "t.net:2: not UTF-8" },
	{ HEAD "relu a in=x\rrelu b in=x\n",
	    "t.net:2: a carriage return within the line" },
	{ "", "t.net: no network (wanted an input and an operator)" },
	{ HEAD, "t.net: no network (wanted an input and an operator)" },
	/* attributes */
	{ HEAD "relu r in=x out=8\n",
	    "t.net:2: relu has no attribute out (it has: in)" },
	{ HEAD "conv c in=x kt=3\n", "t.net:2: conv has no attribute kt (it has: "
	    "in out k s p groups bias std)" },
	{ HEAD "conv c in=x out=8 out=8\n", "t.net:2: out is given twice" },
	{ HEAD "conv c in=x\n", "t.net:2: conv c: no out=CHANNELS" },
	{ HEAD "conv c in=x out=0\n", "t.net:2: out=0 (wanted 1 to 1048576)" },
	/* Products of sizes must not overflow. */
	{ HEAD "conv c in=x out=8 k=65536,65536\n",
	    "t.net:2: k=65536,65536 (wanted h,w or t,h,w, 1 to 1024)" },
	{ HEAD "conv c in=x out=1048576 k=1048576,1 p=524288,524288\n",
	    "t.net:2: k=1048576,1 (wanted" },
	{ HEAD "conv c in=x out=8 s=1,1025\n", "s=1,1025 (wanted" },
	{ HEAD "conv c in=x out=8 p=1,1025\n", "p=1,1025 (wanted h,w or t,h,w, "
	    "0 to 1024)" },
	{ HEAD "conv c in=x out=1048577\n", "out=1048577 (wanted 1 to 1048576)" },
	{ HEAD "conv c in=x out=1048576 k=1024,1024,1024\n",
	    "t.net:2: with c.weight the network has more than 2^31 parameters" },
	{ HEAD "conv a in=x out=32768 k=1,1\nconv b in=a out=32768 k=1,1\n"
	    "conv c in=b out=32768 k=1,1\n",
	    "t.net:4: with c.weight the network has more than 2^31 parameters" },
	{ HEAD "conv c in=x out=8,8\n", "out=8,8 (wanted 1 to 1048576)" },
	{ HEAD "conv c in=x out=2e1\n", "out=2e1 (wanted 1 to 1048576)" },
	{ HEAD "conv c in=x out=Classes\n", "out=Classes (wanted 1 to" },
	{ HEAD "conv c in=x out=8 k=3\n",
	    "t.net:2: k=3 (wanted h,w or t,h,w, 1 to 1024)" },
	{ HEAD "conv c in=x out=8 k=0,3\n", "k=0,3 (wanted h,w or t,h,w, 1 to 1024)" },
	{ HEAD "conv c in=x out=8 k=3,3,3,3\n", "k=3,3,3,3 (wanted" },
	{ HEAD "conv c in=x out=8 k=3,\n", "k=3, (wanted" },
	{ HEAD "conv c in=x out=8 s=2,0\n", "s=2,0 (wanted h,w or t,h,w, 1 to 1024)" },
	{ HEAD "conv c in=x out=8 p=1\n", "p=1 (wanted h,w or t,h,w, 0 to 1024)" },
	{ HEAD "conv c in=x out=8 p=-1,0\n", "p=-1,0 (wanted" },
	{ HEAD "conv c in=x out=8 bias=2\n", "t.net:2: bias=2 (wanted 0 or 1)" },
	{ HEAD "conv c in=x out=8 groups=2\n",
	    "t.net:2: conv c: groups=2 does not divide 3 and 8 channels" },
	{ HEAD "conv c in=x out=8 std=-0.1\n",
	    "t.net:2: std=-0.1 (wanted a number from 0 to 10)" },
	{ HEAD "conv c in=x out=8 groups=3\n", "groups=3 does not divide" },
	{ HEAD "bn b in=x gamma=one\n", "t.net:2: gamma=one (wanted a number)" },
	{ HEAD "bn b in=x eps=0\n", "eps=0 (wanted a number from 1e-12 to 1)" },
	{ HEAD "bn b in=x momentum=1.5\n",
	    "momentum=1.5 (wanted a number from 0 to 1)" },
	{ HEAD "dropout d in=x rate=1\n",
	    "t.net:2: rate=1 (wanted a probability below 1)" },
	{ HEAD "dropout d in=x rate=nan\n", "rate=nan (wanted" },
	{ HEAD "linear l in=x out=8 std=-1\n",
	    "std=-1 (wanted a number from 0 to 10)" },
	{ HEAD "shift s in=x fold=1\n", "t.net:2: fold=1 (wanted 2 to 1048576)" },
	{ HEAD "shift s in=x\n",
	    "t.net:2: shift s: fold=8 of 3 channels moves none" },
	{ HEAD "avgpool p in=x\n", "t.net:2: avgpool p: neither over=AXES nor a "
	    "window k, s or p" },
	{ HEAD "avgpool p in=x over=t k=2,2\n", "t.net:2: avgpool p: both "
	    "over=AXES and a window k, s or p" },
	{ HEAD "avgpool p in=x k=2,2 p=0,2\n",
	    "t.net:2: avgpool p: padding 2 is not smaller than its window 2" },
	{ HEAD "avgpool p in=x k=2,2 edges=no\n",
	    "t.net:2: edges=no (wanted zeros or cut)" },
	{ HEAD "avgpool p in=x over=c\n",
	    "t.net:2: over=c (wanted letters of t, h and w)" },
	{ HEAD "avgpool p in=x over=\n", "over=\"\" (wanted letters of t, h and w)" },
	{ HEAD "avgpool p in=x over=xy\n", "over=xy (wanted letters" },
	{ HEAD "conv c in=x out=8\nshift s in=c from=future\n",
	    "t.net:3: from=future (wanted both or past)" },
	{ HEAD "frames f in=x\n", "t.net:2: frames f: no step=FRAMES" },
	{ HEAD "frames f in=x step=0\n", "t.net:2: step=0 (wanted 1 to 1024)" },
	{ HEAD "frames f in=x step=4 first=-1\n",
	    "t.net:2: first=-1 (wanted 0 to 1024)" },
	{ HEAD "frames f in=x step=4 first=4\n",
	    "t.net:2: frames f: first=4 is not smaller than step=4" },
	{ HEAD "frames f in=x step=4 first=1 spread=1\n",
	    "t.net:2: frames f: spread=1 begins with frame 0 (first=1)" },
	{ HEAD "bmm m in=x,x transpose=c\n",
	    "t.net:2: transpose=c (wanted a, b or ab)" },
	{ HEAD "bmm m in=x,x transpose=\n", "transpose=\"\" (wanted a, b or ab)" },
	{ HEAD "bmm m in=x,x transpose=b\nconv c in=m out=8\n",
	    "t.net:3: conv c: how many channels m has depends on the shape "
	    "(wanted a fixed number)" },
	{ HEAD "bmm m in=x,x transpose=b\nconcat a in=x,m\nbn b in=a\n",
	    "t.net:4: bn b: how many channels a has depends on the shape" },
	{ HEAD "bmm m in=x,x transpose=b\nscale s in=m by=1/c trained=1\n",
	    "t.net:3: scale s: how many channels m has depends on the shape" },
	{ HEAD "bmm m in=x,x transpose=b\n", "t.net: how many scores m gives "
	    "depends on the shape (wanted out=classes)" },
	{ HEAD "softmax s in=x\n", "t.net:2: softmax s: no over=AXES" },
	{ HEAD "softmax s in=x over=n\n",
	    "t.net:2: over=n (wanted letters of t, h, w and c)" },
	{ HEAD "sigmoid s in=x over=c\n",
	    "t.net:2: sigmoid has no attribute over (it has: in)" },
	{ HEAD "scale s in=x\n", "t.net:2: scale s: no by=FACTOR" },
	{ HEAD "scale s in=x trained=1\n", "t.net:2: scale s: no by=FACTOR" },
	{ HEAD "scale s in=x by=1/d\n", "t.net:2: by=1/d (wanted a number, alone "
	    "or before /c or /sqrt(c))" },
	{ HEAD "scale s in=x by=/c\n", "by=/c (wanted a number" },
	{ HEAD "scale s in=x by=nan\n", "by=nan (wanted a number" },
	{ HEAD "scale s in=x by=1 trained=2\n", "trained=2 (wanted 0 or 1)" },
	{ HEAD "maxpool m in=x k=2,2 p=2,0\n",
	    "t.net:2: maxpool m: padding 2 is not smaller than its window 2" },
	/* streams */
	{ "input x\n", "t.net:1: input x: no out=CHANNELS" },
	{ "input x out=257\n",
	    "t.net:1: out=257 (wanted 1 to 256 channels of a stream)" },
	{ "input x out=3 mean=1,2\n", "t.net:1: mean has 2 values (wanted 1 or "
	    "3, one for each channel)" },
	{ "input x mean=1,2,3,4 out=3\n", "t.net:1: mean has 4 values (wanted" },
	{ "input x out=1 std=1,1\n", "t.net:1: std has 2 values (wanted 1 or 1," },
	{ "input x out=3 mean=1,,1\n",
	    "t.net:1: mean=1,,1 (wanted numbers between commas)" },
	{ "input x out=3 std=1,0,1\n",
	    "t.net:1: std=1,0,1 (wanted numbers from 1e-6 between commas)" },
	{ "input x out=3 stream=a/b\n", "t.net:1: stream=a/b (wanted up to 63 "
	    "letters, digits, '_', '.' and '-')" },
	{ "input x out=3 stream=\n", "t.net:1: stream=\"\" (wanted up to 63" },
	{ HEAD "input y out=2\n", "t.net:2: out=2 (an input above reads 3 "
	    "channels of the stream rgb)" },
	{ "input x stream=flow out=7\n", "t.net:1: out=7 (wanted a multiple of "
	    "2, the channels of a pair of the stream flow)" },
	{ "input x stream=rgbdiff out=10\n", "t.net:1: out=10 (wanted a multiple "
	    "of 3, the channels of a difference of the stream rgbdiff)" },
	{ HEAD "input x stream=flow out=2\n", "t.net:2: x is defined twice" },
	{ HEAD "input y stream=flow out=2" TAIL2, "t.net: no operator uses y" },
	/* losses */
	{ HEAD SCORES "loss l in=s kind=hinge\n",
	    "t.net:4: kind=hinge (wanted softmax, focal or sigmoid)" },
	{ HEAD SCORES "loss l in=s kind=focal gamma=-1\n",
	    "t.net:4: gamma=-1 (wanted a number from 0 to 10)" },
	{ HEAD SCORES "loss l in=s gamma=2\n",
	    "t.net:4: loss l: gamma is for kind=focal" },
	{ HEAD SCORES "loss l in=s kind=sigmoid gamma=2\n",
	    "t.net:4: loss l: gamma is for kind=focal" },
	{ HEAD SCORES "loss l in=s weight=-1\n",
	    "t.net:4: weight=-1 (wanted a number from 0)" },
	{ HEAD SCORES "loss l in=s smooth=1\n",
	    "t.net:4: smooth=1 (wanted a share below 1)" },
	{ HEAD SCORES "loss l in=s kind=sigmoid smooth=0.1\n",
	    "t.net:4: loss l: smooth is for kind=softmax or focal" },
	{ HEAD SCORES "loss l in=s target=a,b\n", "t.net:4: target=a,b (wanted" },
	{ HEAD SCORES "loss l\n",
	    "t.net:4: loss l: 0 inputs (wanted 1: in=NAME)" },
	{ HEAD SCORES "loss l in=p\n", "t.net:4: loss l: p gives 3 scores a clip "
	    "(wanted one for each of 7 classes)" },
	{ HEAD SCORES "loss l in=s target=verb\nloss m in=p target=verb\n",
	    "t.net:5: loss m: p gives 3 scores a clip (wanted one for each of 7 "
	    "classes)" },
	{ HEAD SCORES "loss l in=s\nrelu r in=l\n",
	    "t.net:5: in=l: a loss is not an input" },
	{ HEAD SCORES "loss l in=s\nrelu r in=s\n", "t.net: no operator uses r" },
	{ HEAD "loss x in=x\n", "t.net:2: x is defined twice" },
	/* inputs */
	{ HEAD "relu r in=y\n", "t.net:2: in=y: no operator above has this name" },
	/* The name above has 63 letters, and this one more. */
	{ HEAD "relu "
	    "a12345678901234567890123456789012345678901234567890123456789012"
	    " in=x\nrelu r in="
	    "a123456789012345678901234567890123456789012345678901234567890123"
	    "\n", ": no operator above has this name" },
	{ HEAD "relu r in=r\n", "in=r: no operator above has this name" },
	{ HEAD "relu r in=\n", "in=\"\": no operator above has this name" },
	{ HEAD "relu r in=x,x\n", "t.net:2: relu takes at most 1 inputs" },
	{ HEAD "add a in=x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x\n",
	    "t.net:2: add takes at most 16 inputs" },
	{ HEAD "concat a in=x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x\n",
	    "t.net:2: concat takes at most 16 inputs" },
	{ HEAD "concat a in=x\n",
	    "t.net:2: concat a: 1 inputs (wanted 2: in=NAME)" },
	{ HEAD "conv c in=x out=1048576\nconcat a in=c,x\n",
	    "t.net:3: concat a: more than 1048576 channels" },
	{ HEAD "mul m in=x,x,x\n", "t.net:2: mul takes at most 2 inputs" },
	{ HEAD "mul m in=x\n", "t.net:2: mul m: 1 inputs (wanted 2: in=NAME)" },
	{ HEAD "bmm m in=x\n", "t.net:2: bmm m: 1 inputs (wanted 2: in=NAME)" },
	{ HEAD "bmm m in=x,x,x\n", "t.net:2: bmm takes at most 2 inputs" },
	{ HEAD "relu r\n", "t.net:2: relu r: 0 inputs (wanted 1: in=NAME)" },
	{ HEAD "add a in=x\n", "t.net:2: add a: 1 inputs (wanted 2: in=NAME)" },
	/* blocks */
	{ HEAD "def b\nrelu $name in=$in\n", "t.net: block b has no end" },
	{ HEAD "def b\ndef c\nend\nend\n", "t.net:3: def inside block b" },
	{ HEAD "def # b\nend\n", "t.net:2: def has no name" },
	{ HEAD "def b\nend\ndef b\nend\n",
	    "t.net:4: block or operator b is already defined" },
	{ HEAD "def conv\nend\n",
	    "t.net:2: block or operator conv is already defined" },
	{ HEAD "def b\nrelu $name in=$in\nend\n\nb r\n",
	    "t.net:6: b r: no value for $in" },
	{ HEAD "def b\nrelu $name in=$in\nend\nb r in=x out=3\n",
	    "t.net:5: block b has no $out" },
	{ HEAD "def b\nconv $name in=x out=$out k=$kt,1\nend\nb r out=3 k=1 kt=3\n",
	    "t.net:5: block b has no $k" },
	{ HEAD "def b\nrelu $name.r in=x # $in\nend\nb r in=x\n",
	    "t.net:5: block b has no $in" },
	{ HEAD "def b\nrelu $name.r in=x\nend\nb r\n",
	    "t.net:5: the last line of block b does not define $name" },
	{ HEAD "def b\nrelu $name in=y\nend\nb r\n",
	    "t.net:5: in=y: no operator above has this name" },
	{ HEAD "def b\n # nothing\n\nend\nb r\n",
	    "t.net:6: the last line of block b does not define $name" },
	{ HEAD "def b\nb $name.b\nrelu $name in=x\nend\nb r\n",
	    "t.net:6: blocks nested more than 8 deep" },
	/* the whole */
	{ HEAD "relu last in=x\nrelu r in=x" TAIL, "t.net: no operator uses r" },
	{ HEAD "relu r in=x\n", "t.net: the last operator gives 3 scores a clip "
	    "(wanted one for each of 7 classes: out=classes)" },
	{ HEAD "avgpool p in=x over=hw\nlinear fc in=p out=8\n",
	    "gives 8 scores a clip (wanted one for each of 7 classes" },
};

/*
 * Return the message of graph_parse, which must refuse ${text}.  Valid until
 * the next call.
 */
static const char *
message(const char *text)
{
	static char said[4096];
	struct graph *g;

	said_begin(said, sizeof(said));
	g = graph_parse("t.net", text, 7);
	said_end();
	if (g != NULL) {
		graph_free(g);
		return "(it was read)";
	}
	return said;
}

static void
says(const char *text, const char *want)
{
	const char *got = message(text);

	if (!ok(strstr(got, want) != NULL && strstr(got, "; ") == NULL,
	    "refused: %s", want))
		diag("got: %s", got);
}

static void
errors(void)
{
	struct buffer b = { 0 };

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		says(wrong[i].text, wrong[i].says);

	buffer_text(&b, HEAD "conv c in=x out=8 ");
	for (int i = 0; i < 500; i++)
		buffer_text(&b, "   ");
	says(b.data, "t.net:2: longer than 1023 bytes");
	b.n = 0;
	buffer_text(&b, HEAD "conv c");
	for (int i = 0; i < 25; i++)
		buffer_printf(&b, " a%d=1", i);
	says(b.data, "t.net:2: more than 24 attributes");
	b.n = 0;
	buffer_text(&b, HEAD "def b\nrelu $name in=$in$in\nend\nb r in=");
	for (int i = 0; i < 600; i++)
		buffer_text(&b, "x");
	says(b.data, "t.net:5: b r: a line of the block becomes longer than 1023");
	buffer_free(&b);
}

/*
 * The size of the text bounds the time of reading.  Without the limits the
 * second of these networks takes minutes and the third practically forever.
 */
static void
limits(void)
{
	struct buffer b = { 0 };

	buffer_text(&b, HEAD "def b\nrelu $name in=x");
	for (int i = 0; i < 25; i++)
		buffer_printf(&b, "$k%d", i);
	buffer_text(&b, "\nend\n");
	says(b.data, "t.net:3: more than 24 different $keys in a block");

	b.n = 0;
	buffer_text(&b, HEAD);
	for (int i = 0; i < 50000; i++)
		buffer_printf(&b, "relu r%d in=x\n", i);
	says(b.data, "t.net:16385: more than 16384 operators");

	b.n = 0;
	buffer_text(&b, HEAD);
	for (int deep = 0; deep < 8; deep++) {
		buffer_printf(&b, "def b%d\n", deep);
		for (int i = 0; i < 30; i++)
			buffer_printf(&b, deep == 0 ? "relu $name.%d in=x\n" :
			    "b%d $name.%d\n", deep == 0 ? i : deep - 1, i);
		buffer_text(&b, "relu $name in=x\nend\n");
	}
	buffer_text(&b, "b7 y\n");
	says(b.data, "more than 16384 operators");

	b.n = 0;
	buffer_text(&b, HEAD);
	for (int deep = 0; deep < 8; deep++) {
		buffer_printf(&b, "def b%d\n", deep);
		if (deep == 0)
			buffer_text(&b, "relu $name in=x");
		else
			buffer_printf(&b, "b%d $name e=", deep - 1);
		for (int i = 0; i < 480; i++)
			buffer_text(&b, "$e");
		buffer_text(&b, "\nend\n");
	}
	for (int i = 0; i < 5000; i++)
		buffer_printf(&b, "b7 y%d e=\n", i);
	says(b.data, "the blocks expand to more than 16 MiB");

	b.n = 0;
	while (b.n <= 1 << 20)
		buffer_text(&b, "# a line that says nothing, many times\n");
	says(b.data, "(wanted at most 1048576)");
	buffer_free(&b);
}

/* Text after a zero byte must not be ignored: it would be another network. */
static void
zero_byte(void)
{
	static const char text[] = HEAD "avgpool p in=x over=thw\n"
	    "linear fc in=p out=classes\n\0relu r in=fc\n";
	char path[] = "/tmp/vt-graph.XXXXXX", said[200];
	int fd = mkstemp(path);
	struct graph *g;

	if (fd < 0 || write(fd, text, sizeof(text) - 1) < 0)
		exit(1);
	said_begin(said, sizeof(said));
	g = graph_read(path, 7);
	said_end();
	ok(g == NULL && strstr(said, "offset 65: a zero byte (wanted text)"),
	    "a zero byte is refused");
	graph_free(g);
	close(fd);
	unlink(path);
}

/*
 * Shapes that do not fit are refused by graph_shapes, which names the operator.
 */
static void
shape_error(const char *text, int t, int side, const char *want)
{
	struct graph *g = graph_parse("t.net", text, 7);
	struct dims in = { 1, t, side, side, 3 }, out[16];
	char said[1024];
	int bad;

	said_begin(said, sizeof(said));
	bad = g == NULL || g->nop > 16 || graph_shapes(g, &in, out, NULL) != 0;
	said_end();
	if (!ok(bad && strstr(said, want) != NULL, "refused: %s", want))
		diag("got: %s", said);
	graph_free(g);
}

static void
shape_errors(void)
{
	shape_error(HEAD "conv c in=x out=3 k=7,7 p=0,0\nrelu last in=c" TAIL, 2, 6,
	    "c: input 1x2x6x6x3 is smaller than the window 1x7x7");
	shape_error(HEAD "maxpool last in=x k=3,1,1 p=0,0,0" TAIL, 2, 6,
	    "last: input 1x2x6x6x3 is smaller than the window 3x1x1");
	shape_error(HEAD "conv c in=x out=3 k=1,1 s=2,2\nadd last in=x,c" TAIL, 2,
	    6, "last: inputs of shapes 1x2x6x6x3 and 1x2x3x3x3 (wanted equal "
	    "ones)");
	shape_error(HEAD "conv last in=x out=1048576 k=1,1 p=1024,1024" TAIL, 2, 6,
	    "last: an output of 1x2x2054x2054x1048576 (wanted at most 2^40 "
	    "values)");
	shape_error(HEAD "conv c in=x out=4\nadd last in=x,c" TAIL, 2, 6,
	    "and 1x2x6x6x4 (wanted equal ones)");
	shape_error(HEAD "frames f in=x step=2\nconcat last in=f,x" TAIL, 4, 6,
	    "last: inputs of shapes 1x2x6x6x3 and 1x4x6x6x3 (wanted ones that "
	    "differ in their channels only)");
	shape_error(HEAD "frames last in=x step=8 first=4" TAIL, 4, 6,
	    "last: 4 frames, of which step=8 first=4 takes none");
	shape_error(HEAD "frames last in=x step=8 spread=1" TAIL, 4, 6,
	    "last: 4 frames, of which step=8 first=0 takes none");
	shape_error(HEAD "frames f in=x step=2\nmul last in=x,f" TAIL, 4, 6,
	    "last: inputs of shapes 1x4x6x6x3 and 1x2x6x6x3 (wanted equal ones, "
	    "or a second one of 1 frame, row or column)");
	shape_error(HEAD "avgpool a in=x over=hw\nmul last in=a,x" TAIL, 4, 6,
	    "last: inputs of shapes 1x4x1x1x3 and 1x4x6x6x3");
	shape_error(HEAD "bmm last in=x,x" TAIL, 4, 6, "last: 1 products of 144x3 "
	    "and 1 of 144x3 matrices (wanted as many columns there as rows "
	    "here)");
	shape_error(HEAD "conv c in=x out=4\nbmm m in=x,c transpose=b\n"
	    "bmm last in=m,x" TAIL, 4, 6, "m: 1 products of 144x3 and 1 of 4x144 matrices");
	shape_error(HEAD "bmm m in=x,x transpose=b\nbmm last in=m,x" TAIL, 4, 600,
	    "m: an output of 1440000 channels (wanted at most 1048576)");
	shape_error(HEAD "avgpool p in=x over=hw\nlinear fc in=p out=classes\n", 2,
	    6, "loss: scores of shape 1x2x1x1x7 (wanted one a clip: end the "
	    "network with avgpool over=t)");
}

int
main(void)
{
	errors();
	limits();
	zero_byte();
	shape_errors();
	return done();
}
