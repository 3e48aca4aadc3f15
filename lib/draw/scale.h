#ifndef DRAW_SCALE_H
#define DRAW_SCALE_H

/* The scale of an axis: where a value lies, and which values get a tick. */

enum { SCALE_TICKS = 32 };

struct scale {
	double min, max;	/* min < max; above 0 if log */
	int log;		/* 0: linear; 2, 10: logarithmic, ticks at powers */
};

struct tick {
	double value;
	char text[24];		/* what to write beside it */
};

/*
 * scale_fit(min, max, log, room):
 * A scale over values from ${min} to ${max}, widened where there is no range
 * to speak of, and with ${room} to the next tick at each end so that lines do
 * not run along the border.  A logarithm needs ${min} > 0.
 */
struct scale scale_fit(double min, double max, int log, int room);

/* scale_place(s, v): 0 for the least value, 1 for the greatest, and beyond. */
double scale_place(const struct scale *s, double v);

/*
 * scale_ticks(s, most, tick):
 * Write at most ${most}, up to SCALE_TICKS, ticks within the scale to ${tick}
 * and return how many: 1, 2 or 5 times a power of ten apart, or at powers.
 */
int scale_ticks(const struct scale *s, int most, struct tick *tick);

/* scale_text(v, step, to): ${v} as one of numbers ${step} apart; 24 bytes. */
void scale_text(double v, double step, char to[24]);

#endif
