#ifndef INGEST_EXTRACTOR_H
#define INGEST_EXTRACTOR_H

/* What extraction from videos (extract.c) and from folders of frames
 * (extract_folder.c) share. */

#include "ingest/extract.h"

/* What is kept from video to video, as large as the largest needs it. */
struct extractor {
	struct jpeg_encoder *jpeg;
	struct jpeg_decoder *decoder;	/* of frames in a folder */
	struct picture *picture;
	struct image pixels;		/* of a PNG */
	struct buffer file, bytes;	/* a frame, as it is and encoded */
	int64_t *time;			/* of each stored frame, in ticks */
	size_t cap;
};

/* extract_folder(row, o, e, x): as extract_video, of a folder of frames;
 * with a NULL ${e} as extract_look.  Messages as usual. */
void extract_folder(const struct list_row *row,
    const struct extract_options *o, struct extractor *e, struct extraction *x);

/*
 * extract_other_count(path, frames, listed): report that the video has
 * ${frames} frames but its list says ${listed}.  Return -1 after the message.
 */
int extract_other_count(const char *path, int64_t frames, int64_t listed);

#endif
