#ifndef DEMO_SCENE_H
#define DEMO_SCENE_H

/*
 * Camera moves over random still scenes.  Each move is the time reversal of
 * another, and all other properties have the same distribution for every move.
 * Frames without their order therefore do not show the move.
 */

#include <stdint.h>

enum { MOVES = 8 };

extern const char *const move_names[MOVES];

/* How difficult the moves are to see. */
struct difficulty {
	double view;		/* scene units along the short side */
	double shift_min, shift_max;	/* units per frame */
	double roll_min, roll_max;	/* degrees per frame */
	double zoom_min, zoom_max;	/* relative, per frame */
	double noise;			/* standard deviation, of 255 */
};

extern const struct difficulty difficulty_demo, difficulty_hard;
extern const struct difficulty difficulty_faint;	/* hard, with much noise */
extern const struct difficulty difficulty_near;	/* everything twice as large */

/*
 * Return the difficulty at ${part}, from 0 to 1, of the way from ${a} to ${b};
 * the logarithm of each field is interpolated.
 */
struct difficulty difficulty_between(const struct difficulty *a,
    const struct difficulty *b, double part);

struct scene;

/*
 * scene_new(seed, number, move, w, h, d): make the scene and the camera of clip
 * ${number}, for frames of ${w} x ${h}; they depend only on the arguments.  The
 * camera makes move[0] in the first half of the clip and move[1] in the second.
 * scene_free() frees the result.
 */
struct scene *scene_new(uint64_t seed, uint32_t number, const int move[2], int w,
    int h, const struct difficulty *d);
void scene_free(struct scene *s);

/*
 * scene_draw(s, frame, frames, rgb): draw frame ${frame}, from 0, of ${frames}
 * into ${rgb}, [h][w][3].
 */
void scene_draw(const struct scene *s, int frame, int frames, uint8_t *rgb);

#endif
