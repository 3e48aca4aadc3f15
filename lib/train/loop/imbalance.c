/* --balance and --class-weight of a run. */
#include <stdlib.h>
#include <string.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/text.h"
#include "train/loop/imbalance.h"
#include "train/loop/inputs.h"

/*
 * Set the weights of --class-weight, from a power or from the file of rank 0.
 */
static int
imbalance_open_weights(struct session *s)
{
	const char *how = s->o.class_weight;
	double power;
	char *text;
	int bad;

	s->class_weight = xcalloc(s->balance->classes, sizeof(float));
	if (class_weights_power(how, &power) > 0) {
		class_weights_inverse(s->balance, power, s->class_weight);
		return 0;
	}
	if ((text = inputs_text(s->comm, how)) == NULL)
		return -1;
	bad = class_weights_parse(text_quote(how), text,
	    dataset_class_list(s->train), s->balance, s->class_weight);
	free(text);
	return bad;
}

int
imbalance_open(struct session *s)
{
	strcpy(s->class_weights, "none");
	if (s->o.balance <= 0 && s->o.class_weight == NULL)
		return 0;
	if (dataset_has_label_sets(s->train)) {
		fail("%s: its samples have sets of classes (--%s is for one "
		    "class a sample)", text_quote(s->o.data), s->o.balance > 0 ?
		    "balance" : "class-weight");
		return EXIT_USAGE;
	}
	s->balance = class_balance_new(s->train, s->o.balance);
	if (s->o.class_weight == NULL)
		return 0;
	if (imbalance_open_weights(s) != 0)
		return EXIT_USAGE;
	hash128_text(class_weights_hash(s->class_weight, s->balance->classes),
	    s->class_weights);
	return 0;
}

void
imbalance_print(const struct session *s, FILE *f)
{
	const struct class_balance *b = s->balance;

	for (uint32_t c = 0; b != NULL && c < b->classes; c++) {
		fprintf(f, "%-22s %u samples, %u visits an epoch (%.4g %%)",
		    "# class", class_balance_count(b, c), b->visits[c],
		    100.0 * b->visits[c] / b->samples);
		if (s->class_weight != NULL)
			fprintf(f, ", weight %.4g", (double)s->class_weight[c]);
		fprintf(f, ": %s\n", dataset_class(s->train, (int)c));
	}
}
