#ifndef MEDIA_FONT_H
#define MEDIA_FONT_H

/* A font of our own: printable ASCII, every character in a cell of 6 x 13. */

enum {
	FONT_WIDTH = 6,
	FONT_HEIGHT = 13,
	FONT_TOP = 2,		/* capitals begin at this row */
	FONT_BASE = 11		/* and end above this one */
};

/* font_ink(ch, x, y): 1 if that pixel of ${ch} is inked; 0 outside the cell.
 * What is not printable ASCII looks like '?'. */
int font_ink(char ch, int x, int y);

#endif
