#ifndef INGEST_LIST_JSON_H
#define INGEST_LIST_JSON_H

#include "shard/classes.h"

/*
 * list_json_classes(path, text, n, c): add the names of an object
 * {"name":"0",...}, whose numbers are whole ones or digits, in their order.
 * -1 after a message if a number is missing or there twice.
 */
int list_json_classes(const char *path, const char *text, size_t n,
    struct class_list *c);

#endif
