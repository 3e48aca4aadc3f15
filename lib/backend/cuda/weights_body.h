/*
 * Pack the weights of convolutions, and return their gradients:
 *
 *	packed[out][tap][in] = w[out][in][tap]
 *	dw[out][in][tap] = dpacked[out][tap][in]
 *
 * The transposition goes through shared memory, so that loads and stores are
 * both contiguous.
 */

/* Return the row of block ${x}, and store the number of the block in it. */
INLINE const struct wgrad *
OF(weights_row)(const struct weights_table *t, unsigned x, unsigned *block)
{
	unsigned from = 0, past = t->rows;

	while (past - from > 1) {
		unsigned half = (from + past) / 2;

		if (t->first[half] <= x)
			from = half;
		else
			past = half;
	}
	*block = x - t->first[from];
	return &t->row[from];
}

/* Element by element, for kernels with more than WEIGHTS taps. */
INLINE void
OF(weights_slow)(const struct wgrad *a, struct block b, unsigned block,
    const int back)
{
	size_t all = (size_t)a->in * a->taps;
	size_t out = block / a->pieces * all;

	EACH_THREAD(i) {
		size_t j = (size_t)(block % a->pieces) * (size_t)b.threads +
		    (size_t)i;
		size_t k = j % a->in * a->taps + j / a->in;

		if (j < all && back)
			((float *)a->to)[out + k] = OF(widen)(((const S *)
			    a->from)[out + j]);
		else if (j < all)
			((S *)a->to)[out + j] = OF(narrow)(((const float *)
			    a->from)[out + k]);
	}
}

/* packed[out][tap][in] = w[out][in][tap], rounded to the storage type */
BODY
OF(weights_pack)(const struct weights_table *t, struct block b)
{
	SHARED(float, tile, WEIGHTS);
	unsigned block;
	const struct wgrad *a = OF(weights_row)(t, b.x, &block);
	unsigned out = block / a->pieces, first = block % a->pieces * a->some;
	unsigned some = a->in - first < a->some ? a->in - first : a->some;
	size_t all = (size_t)a->in * a->taps;
	const float *from = (const float *)a->from + out * all +
	    (size_t)first * a->taps;
	S *to = (S *)a->to + out * all + first;

	if (a->some == 0) {
		OF(weights_slow)(a, b, block, 0);
		return;
	}
	EACH_THREAD(i) {
		for (unsigned j = (unsigned)i; j < some * a->taps;
		    j += (unsigned)b.threads)
			tile[j] = from[j];
	}
	EACH_THREAD(i) {
		for (unsigned j = (unsigned)i; j < some * a->taps;
		    j += (unsigned)b.threads)
			to[(size_t)(j / some) * a->in + j % some] =
			    OF(narrow)(tile[j % some * a->taps + j / some]);
	}
}

/* dw[out][in][tap] = packed[out][tap][in] */
BODY
OF(weights_return)(const struct weights_table *t, struct block b)
{
	SHARED(float, tile, WEIGHTS);
	unsigned block;
	const struct wgrad *a = OF(weights_row)(t, b.x, &block);
	unsigned out = block / a->pieces, first = block % a->pieces * a->some;
	unsigned some = a->in - first < a->some ? a->in - first : a->some;
	size_t all = (size_t)a->in * a->taps;
	const S *from = (const S *)a->from + out * all + first;
	float *to = (float *)a->to + out * all + (size_t)first * a->taps;

	if (a->some == 0) {
		OF(weights_slow)(a, b, block, 1);
		return;
	}
	EACH_THREAD(i) {
		for (unsigned j = (unsigned)i; j < some * a->taps;
		    j += (unsigned)b.threads)
			tile[j % some * a->taps + j / some] =
			    OF(widen)(from[(size_t)(j / some) * a->in +
			    j % some]);
	}
	EACH_THREAD(i) {
		for (unsigned j = (unsigned)i; j < some * a->taps;
		    j += (unsigned)b.threads)
			to[j] = tile[j];
	}
}
