/*
 * Pack the weights of convolutions (struct weights_packing), and return their
 * gradients:
 *
 *	packed[out][tap][in] = w[out][in][tap]
 *	dw[out][in][tap] = dpacked[out][tap][in]
 *
 * The transposition goes through shared memory, so that loads and stores are
 * both contiguous.
 */

/* Return the row of block ${x}, and store the number of the block in it. */
INLINE const struct weights_packing *
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

/* Return the first packed input of output ${out}. */
INLINE unsigned
OF(weights_first)(const struct weights_packing *a, unsigned out)
{
	return out / a->each * a->in;
}

/* Element by element, for kernels with more than WEIGHTS taps. */
INLINE void
OF(weights_slow)(const struct weights_packing *a, struct block b,
    unsigned block, const int back)
{
	unsigned out = block / a->pieces;
	size_t all = (size_t)a->pitch * a->taps;

	EACH_THREAD(i) {
		size_t j = (size_t)(block % a->pieces) * (size_t)b.threads +
		    (size_t)i;
		unsigned in = (unsigned)(j % a->pitch) -
		    OF(weights_first)(a, out);
		size_t k = ((size_t)out * a->in + in) * a->taps + j / a->pitch;
		int there = out < a->out && in < a->in;

		if (j < all && back && there)
			((float *)a->to)[k] = OF(widen)(((const S *)
			    a->from)[out * all + j]);
		else if (j < all && !back)
			((S *)a->to)[out * all + j] = OF(narrow)(there ?
			    ((const float *)a->from)[k] : 0);
	}
}

/*
 * A block has packed inputs ${first} to ${first} + ${some} - 1 of output
 * ${out}.  The first of them is input ${in} of the graph's weights; a number
 * before 0 wraps around.
 */
struct OF(weights_part) { unsigned out, first, some, in; };

INLINE struct OF(weights_part)
OF(weights_part_of)(const struct weights_packing *a, unsigned block)
{
	struct OF(weights_part) p;

	p.out = block / a->pieces;
	p.first = block % a->pieces * a->some;
	p.some = a->pitch - p.first < a->some ? a->pitch - p.first : a->some;
	p.in = p.first - OF(weights_first)(a, p.out);
	return p;
}

/*
 * Return the index in w of number ${j} of the block's floats [some][taps], or
 * SIZE_MAX if the graph has no such weight.
 */
INLINE size_t
OF(weights_at)(const struct weights_packing *a,
    const struct OF(weights_part) *p, unsigned j)
{
	unsigned in = p->in + j / a->taps;

	return p->out < a->out && in < a->in ? ((size_t)p->out * a->in + in) *
	    a->taps + j % a->taps : SIZE_MAX;
}

/* packed[out][tap][in] = w[out][in][tap], rounded to the storage type */
BODY
OF(weights_pack)(const struct weights_table *t, struct block b)
{
	SHARED(float, tile, WEIGHTS);
	unsigned block;
	const struct weights_packing *a = OF(weights_row)(t, b.x, &block);
	struct OF(weights_part) p;
	S *to;

	if (a->some == 0) {
		OF(weights_slow)(a, b, block, 0);
		return;
	}
	p = OF(weights_part_of)(a, block);
	to = (S *)a->to + (size_t)p.out * a->taps * a->pitch + p.first;
	EACH_THREAD(i) {
		for (unsigned j = (unsigned)i; j < p.some * a->taps;
		    j += (unsigned)b.threads) {
			size_t at = OF(weights_at)(a, &p, j);

			tile[j] = at != SIZE_MAX ?
			    ((const float *)a->from)[at] : 0;
		}
	}
	EACH_THREAD(i) {
		for (unsigned j = (unsigned)i; j < p.some * a->taps;
		    j += (unsigned)b.threads)
			to[(size_t)(j / p.some) * a->pitch + j % p.some] =
			    OF(narrow)(tile[j % p.some * a->taps + j / p.some]);
	}
}

/* dw[out][in][tap] = packed[out][tap][in] */
BODY
OF(weights_return)(const struct weights_table *t, struct block b)
{
	SHARED(float, tile, WEIGHTS);
	unsigned block;
	const struct weights_packing *a = OF(weights_row)(t, b.x, &block);
	struct OF(weights_part) p;
	const S *from;

	if (a->some == 0) {
		OF(weights_slow)(a, b, block, 1);
		return;
	}
	p = OF(weights_part_of)(a, block);
	from = (const S *)a->from + (size_t)p.out * a->taps * a->pitch +
	    p.first;
	EACH_THREAD(i) {
		for (unsigned j = (unsigned)i; j < p.some * a->taps;
		    j += (unsigned)b.threads)
			tile[j % p.some * a->taps + j / p.some] =
			    OF(widen)(from[(size_t)(j / p.some) * a->pitch +
			    j % p.some]);
	}
	EACH_THREAD(i) {
		for (unsigned j = (unsigned)i; j < p.some * a->taps;
		    j += (unsigned)b.threads) {
			size_t at = OF(weights_at)(a, &p, j);

			if (at != SIZE_MAX)
				((float *)a->to)[at] = tile[j];
		}
	}
}
