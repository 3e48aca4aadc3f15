/*
 * Stems (stem.c).  An image becomes patches of 2x2 pixels, which begin at its
 * padding:
 *
 *	patch[i][j][(2 r + s) c + k] = x[2 i + r - pad[0]][2 j + s - pad[1]][k]
 *
 * or 0 outside the image and for channels beyond 4 c.  Weights are converted
 * from the order of the graph, and their gradients back to it:
 *
 *	to[a][b][(2 r + s) c + k] = from[k][2 a + r][2 b + s]
 *
 * or 0 beyond the kernel.
 */

/* patch = x, by the first formula; one vector per thread */
BODY
OF(stem)(const struct stem *a, struct block b)
{
	const struct image *m = &a->image;
	unsigned vectors = a->depth / LANES;
	size_t image = b.x / m->pieces;
	const S *from = (const S *)a->from + image * (size_t)a->in[0] *
	    (size_t)a->in[1] * a->c;

	EACH_THREAD(i) {
		unsigned j = image_vector(m, b, i, 0, 1);
		unsigned first = j % vectors * LANES, at = j / vectors;
		unsigned pixel = first / a->c, k = first % a->c;
		int h = 2 * (int)(at / a->width) - a->pad[0];
		int w = 2 * (int)(at % a->width) - a->pad[1];
		float f[LANES];

		if (j == UINT32_MAX)
			continue;
		UNROLL
		for (int e = 0; e < LANES; e++) {
			int y = h + (int)(pixel / 2), x = w + (int)(pixel % 2);

			f[e] = pixel < 4 && y >= 0 && y < a->in[0] && x >= 0 &&
			    x < a->in[1] ? OF(widen)(from[((size_t)y *
			    (size_t)a->in[1] + (size_t)x) * a->c + k]) : 0;
			if (++k == a->c) {
				k = 0;
				pixel++;
			}
		}
		OF(give)(a->to, (image * m->plane + j) * LANES, SIZE_MAX, f, 0,
		    LANES);
	}
}

/*
 * Return the index in the order of the graph of weight ${j} of the patches, or
 * SIZE_MAX if that weight is 0.
 */
INLINE size_t
OF(stem_from)(const struct stem_weights *a, size_t j)
{
	unsigned d = (unsigned)(j % a->depth), pixel = d / a->in, b, r;
	int h, w;

	j /= a->depth;
	b = (unsigned)(j % (size_t)a->patches[1]);
	j /= (size_t)a->patches[1];
	r = (unsigned)(j % (size_t)a->patches[0]);
	j /= (size_t)a->patches[0];
	h = 2 * (int)r + (int)(pixel / 2);
	w = 2 * (int)b + (int)(pixel % 2);
	if (pixel >= 4 || h >= a->k[1] || w >= a->k[2])
		return SIZE_MAX;
	return (((j / (size_t)a->k[0] * a->in + d % a->in) * (size_t)a->k[0] +
	    j % (size_t)a->k[0]) * (size_t)a->k[1] + (size_t)h) *
	    (size_t)a->k[2] + (size_t)w;
}

/* to[j] = from[stem_from(j)]; ${back}: to[stem_from(j)] = from[j] */
INLINE void
OF(stem_convert_weights)(const struct stem_weights *a, struct block b, const int back)
{
	EACH_THREAD(i) {
		size_t j = (size_t)b.x * (size_t)b.threads + (size_t)i;
		size_t k = j < a->n ? OF(stem_from)(a, j) : SIZE_MAX;

		if (!back && j < a->n)
			((S *)a->to)[j] = OF(narrow)(k != SIZE_MAX ?
			    ((const float *)a->from)[k] : 0);
		else if (back && k != SIZE_MAX)
			((float *)a->to)[k] = OF(widen)(((const S *)
			    a->from)[j]);
	}
}

BODY
OF(stem_keep)(const struct stem_weights *a, struct block b)
{
	OF(stem_convert_weights)(a, b, 0);
}

BODY
OF(stem_return)(const struct stem_weights *a, struct block b)
{
	OF(stem_convert_weights)(a, b, 1);
}
