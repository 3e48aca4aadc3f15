#ifndef INGEST_LIST_JSON_H
#define INGEST_LIST_JSON_H

#include "shard/classes.h"

/*
 * list_json_classes(path, text, n, c):
 * Append the class names of a JSON object {"name":"0",...} to ${c}, in the
 * order of their numbers.  Numbers may be written as integers or as texts of
 * digits.  ${text} has ${n} bytes; messages call it ${path}.
 * Return 0, or -1 after a message if a number is missing or repeated.
 */
int list_json_classes(const char *path, const char *text, size_t n,
    struct class_list *c);

#endif
