#ifndef DRAW_SCALE_H
#define DRAW_SCALE_H

/* The scale of an axis: positions of values, and ticks. */

enum { SCALE_TICKS = 32 };

struct scale {
	double min, max;	/* min < max; above 0 if logarithmic */
	int log;		/* 0: linear; 2 or 10: base of the logarithm */
	double only;		/* the only tick; 0: as many as fit */
};

struct tick {
	double value;
	char text[24];		/* the label */
};

/*
 * scale_fit(min, max, log, margin):
 * Return a scale for values from ${min} to ${max}.  Widen it if the range is
 * empty; then that value has the only tick.  With ${margin}, add a margin at
 * both ends, so that lines do not run along the border.  If ${log} is not 0,
 * ${min} must be above 0.
 */
struct scale scale_fit(double min, double max, int log, int margin);

/*
 * scale_place(s, v):
 * Return the position of ${v}: 0 for s->min, 1 for s->max, and outside this
 * range for values outside it.
 */
double scale_place(const struct scale *s, double v);

/*
 * scale_ticks(s, largest, tick):
 * Write the ticks within the scale, at most ${largest} and SCALE_TICKS, to
 * ${tick}.  They are 1, 2 or 5 times a power of ten apart, or at powers of the
 * base.  Return their number.
 */
int scale_ticks(const struct scale *s, int largest, struct tick *tick);

#endif
