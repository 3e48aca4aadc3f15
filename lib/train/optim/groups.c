/*
 * The table of rules: weight, bias, norm, head weight, head bias; each with its
 * factors on learning rate and decay.
 */
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "train/optim/groups.h"

const struct group_rule group_rules[] = {
	{ "tsm", { 1, 1 }, { 2, 0 }, { 1, 0 }, { 5, 1 }, { 10, 0 } },
	{ "tsm-fine", { 1, 1 }, { 2, 0 }, { 1, 0 }, { 1, 1 }, { 2, 0 } },
	{ "plain", { 1, 1 }, { 1, 1 }, { 1, 0 }, { 1, 1 }, { 1, 1 } },
	{ NULL, { 0, 0 }, { 0, 0 }, { 0, 0 }, { 0, 0 }, { 0, 0 } }
};

const struct group_rule *
group_rule_find(const char *name)
{
	for (const struct group_rule *r = group_rules; r->name != NULL; r++)
		if (strcmp(r->name, name) == 0)
			return r;
	return fail_null("no rule %s for groups of parameters (wanted tsm, "
	    "tsm-fine or plain)", text_quote(name));
}

struct group
group_of(const struct group_rule *r, const struct param *p)
{
	switch (p->kind) {
	case PARAM_WEIGHT:
		return p->head ? r->head_weight : r->weight;
	case PARAM_BIAS:
		return p->head ? r->head_bias : r->bias;
	default:
		return r->norm;
	}
}
