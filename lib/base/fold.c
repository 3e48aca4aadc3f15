/* Keys of texts that look the same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

/*
 * Lower-case letters with a mark, as pairs of the letter without and with it:
 * the canonical compositions of Unicode 15 in the blocks of Latin, Greek and
 * Cyrillic, and kana.  A letter with two marks is composed in two steps, in
 * the order of NFD.
 */
static const struct { unsigned mark; const char *pairs; } fold_marks[] = {
	{ 0x0300, "aàeèiìoòuùüǜnǹēḕōṑwẁâầăằêề"
	    "ôồơờưừyỳеѐиѝ" },
	{ 0x0301, "aáeéiíoóuúyýcćlĺnńrŕsśzźüǘgǵåǻæǽøǿ"
	    "çḉēḗïḯkḱmḿõṍōṓpṕũṹwẃâấăắ"
	    "êếôốơớưứ¨΅ϊΐαάεέηήιίϋΰοόυύωώ"
	    "ϒϓгѓкќ" },
	{ 0x0302, "aâeêiîoôuûcĉgĝhĥjĵsŝwŵyŷzẑạậẹệ"
	    "ọộ" },
	{ 0x0303, "aãnñoõiĩuũvṽâẫăẵeẽêễôỗơỡưữ"
	    "yỹ" },
	{ 0x0304, "aāeēiīoōuūüǖäǟȧǡæǣǫǭöȫõȭȯȱyȳgḡ"
	    "ḷḹṛṝ" },
	{ 0x0306, "aăeĕgğiĭoŏuŭȩḝạặийуў" },
	{ 0x0307, "cċeėiİgġzżaȧoȯbḃdḋfḟhḣmṁnṅpṗrṙ"
	    "sṡśṥšṧṣṩtṫwẇxẋyẏſẛ" },
	{ 0x0308, "aäeëiïoöuüyÿhḧõṏūṻwẅxẍtẗιϊυϋ"
	    "ϒϔеёії" },
	{ 0x0309, "aảâẩăẳeẻêểiỉoỏôổơởuủưửyỷ" },
	{ 0x030a, "aåuůwẘyẙ" },
	{ 0x030b, "oőuű" },
	{ 0x030c, "cčdďeělľnňrřsštťzžaǎiǐoǒuǔüǚgǧkǩʒǯ"
	    "jǰhȟ" },
	{ 0x030f, "aȁeȅiȉoȍrȑuȕ" },
	{ 0x0311, "aȃeȇiȋoȏrȓuȗ" },
	{ 0x031b, "oơuư" },
	{ 0x0323, "bḅdḍhḥkḳlḷmṃnṇrṛsṣtṭvṿwẉzẓ"
	    "aạeẹiịoọơợuụưựyỵ" },
	{ 0x0324, "uṳ" },
	{ 0x0325, "aḁ" },
	{ 0x0326, "sștț" },
	{ 0x0327, "cçgģkķlļnņrŗsştţeȩdḑhḩ" },
	{ 0x0328, "aąeęiįuųoǫ" },
	{ 0x032d, "dḓeḙlḽnṋtṱuṷ" },
	{ 0x032e, "hḫ" },
	{ 0x0330, "eḛiḭuṵ" },
	{ 0x0331, "bḇdḏkḵlḻnṉrṟtṯzẕhẖ" },
	{ 0x3099, "かがきぎくぐけげこごさざしじすずせぜ"
	    "そぞただちぢつづてでとどはばひびふぶへべ"
	    "ほぼうゔゝゞカガキギクグケゲコゴサザシジ"
	    "スズセゼソゾタダチヂツヅテデトドハバヒビ"
	    "フブヘベホボウヴワヷヰヸヱヹヲヺヽヾ" },
	{ 0x309a, "はぱひぴふぷへぺほぽハパヒピフプヘペ"
	    "ホポ" },
};

/* Upper-case letters, the step between them, and what makes them lower case. */
static const struct { unsigned from, to, step; int add; } fold_cases[] = {
	{ 'A', 'Z', 1, 32 }, { 0xc0, 0xde, 1, 32 }, { 0x100, 0x12e, 2, 1 },
	{ 0x132, 0x136, 2, 1 }, { 0x139, 0x147, 2, 1 }, { 0x14a, 0x176, 2, 1 },
	{ 0x178, 0x178, 1, -121 }, { 0x179, 0x17d, 2, 1 },
	{ 0x1a0, 0x1a4, 2, 1 }, { 0x1af, 0x1af, 1, 1 }, { 0x1cd, 0x1db, 2, 1 },
	{ 0x1de, 0x1ee, 2, 1 }, { 0x1f4, 0x1f4, 1, 1 }, { 0x1f8, 0x21e, 2, 1 },
	{ 0x222, 0x232, 2, 1 }, { 0x386, 0x386, 1, 38 },
	{ 0x388, 0x38a, 1, 37 }, { 0x38c, 0x38c, 1, 64 },
	{ 0x38e, 0x38f, 1, 63 }, { 0x391, 0x3ab, 1, 32 },
	{ 0x400, 0x40f, 1, 80 }, { 0x410, 0x42f, 1, 32 },
	{ 0x1e00, 0x1e94, 2, 1 }, { 0x1ea0, 0x1efe, 2, 1 },
};

static unsigned
fold_case(unsigned c)
{
	for (size_t i = 0; i < sizeof(fold_cases) / sizeof(*fold_cases); i++)
		if (c >= fold_cases[i].from && c <= fold_cases[i].to &&
		    (c - fold_cases[i].from) % fold_cases[i].step == 0)
			return c + (unsigned)fold_cases[i].add;
	return c;
}

static int
fold_blank(unsigned c)
{
	return c == ' ' || c == 0xa0 || c == 0x1680 || (c >= 0x2000 &&
	    c <= 0x200a) || c == 0x202f || c == 0x205f || c == 0x3000;
}

static int
fold_invisible(unsigned c)
{
	return c == 0xad || (c >= 0x200b && c <= 0x200d) || c == 0x2060 ||
	    c == 0xfeff;
}

/* Return the character that ${c} and ${mark} make, or 0.  Hangul is composed by
 * the formula of the Unicode standard, section 3.12. */
static unsigned
fold_compose(unsigned c, unsigned mark)
{
	if (c >= 0x1100 && c <= 0x1112 && mark >= 0x1161 && mark <= 0x1175)
		return 0xac00 + ((c - 0x1100) * 21 + mark - 0x1161) * 28;
	if (c >= 0xac00 && c <= 0xd7a3 && (c - 0xac00) % 28 == 0 &&
	    mark > 0x11a7 && mark <= 0x11c2)
		return c + mark - 0x11a7;
	for (size_t i = 0; i < sizeof(fold_marks) / sizeof(*fold_marks); i++) {
		if (fold_marks[i].mark != mark)
			continue;
		for (const char *s = fold_marks[i].pairs, *with; *s != '\0';
		    s = with + text_utf8(with)) {
			with = s + text_utf8(s);
			if (text_code(s) == c)
				return text_code(with);
		}
	}
	return 0;
}

char *
text_fold(const char *s)
{
	unsigned *out = xcalloc(strlen(s) + 1, sizeof(*out)), c, whole;
	char *key = xmalloc(6 * strlen(s) + 1), *k = key;
	size_t n = 0;

	for (int length; *s != '\0'; s += length > 0 ? length : 1) {
		length = text_utf8(s);
		c = fold_case(text_code(s));
		if (fold_blank(c))
			c = ' ';
		if (fold_invisible(c) || (c == ' ' && (n == 0 ||
		    out[n - 1] == ' ')))
			continue;
		whole = n > 0 ? fold_compose(out[n - 1], c) : 0;
		if (whole != 0)
			out[n - 1] = whole;
		else
			out[n++] = c;
	}
	n -= n > 0 && out[n - 1] == ' ';
	*k = '\0';
	for (size_t i = 0; i < n; i++)
		k += sprintf(k, "%06x", out[i]);
	free(out);
	return key;
}
