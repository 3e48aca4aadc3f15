#ifndef DEMO_SCENE_H
#define DEMO_SCENE_H

/*
 * Camera moves over random still scenes.  Each move is the time reversal of
 * another, and everything else is drawn alike for all of them, so no single
 * frame, and no set of frames without their order, tells which it is.
 */

#include <stdint.h>

enum { MOVES = 8 };

extern const char *const move_names[MOVES];

/* How hard the moves are to see. */
struct difficulty {
	double view;		/* units of the scene along the short side */
	double shift_min, shift_max;	/* units a frame */
	double roll_min, roll_max;	/* degrees a frame */
	double zoom_min, zoom_max;	/* relative, a frame */
	double noise;			/* sigma, of 255 */
};

extern const struct difficulty difficulty_demo, difficulty_hard;
extern const struct difficulty difficulty_faint;	/* hard, and much noise */
extern const struct difficulty difficulty_near;	/* all twice as large */

/* The part of the way from ${a} to ${b}, evenly in the logarithm of each. */
struct difficulty difficulty_between(const struct difficulty *a,
    const struct difficulty *b, double part);

struct scene;

/*
 * scene_new(seed, number, move, w, h, d): clip ${number} of a set: its scene
 * and its camera, for pictures of ${w} x ${h}.  The camera makes move[0] until
 * the middle of the clip and move[1] from there on.
 */
struct scene *scene_new(uint64_t seed, uint32_t number, const int move[2], int w,
    int h, const struct difficulty *d);
void scene_free(struct scene *s);

/* scene_draw(s, frame, frames, rgb): frame ${frame} of ${frames}, [h][w][3]. */
void scene_draw(const struct scene *s, int frame, int frames, uint8_t *rgb);

#endif
