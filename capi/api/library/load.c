/* MXLoadLib: opens a library that was built for MXNet 1.9.1's extension interface and adds its
 * operators to the registry. MXLLibraryNames lists what libraries brought. */
#include "api/library/library.h"

#include <stdlib.h>
#include <string.h>

#include "backend/probe.h"
#include "base/system/threads.h"
#include "base/system/dynamic.h"

/* What 1.9.1 says of itself to a library, and the version of the interface that it has. */
enum { MXNET_VERSION = 10901, INTERFACE = 11 };

#define FUNCTION(name) {"_" #name, offsetof(api_library_table, name)}

static const mxl_probe_symbol functions[] = {
    FUNCTION(msgSize),
    FUNCTION(msgGet),
    FUNCTION(opRegSize),
    FUNCTION(opRegGet),
    FUNCTION(opCallFree),
    FUNCTION(opCallParseAttrs),
    FUNCTION(opCallInferShape),
    FUNCTION(opCallInferType),
    FUNCTION(opCallInferSType),
    FUNCTION(opCallFCompute),
    FUNCTION(opCallMutateInputs),
    FUNCTION(opCallCreateOpState),
    FUNCTION(opCallDestroyOpState),
    FUNCTION(opCallFStatefulCompute),
    FUNCTION(partRegSize),
    FUNCTION(partRegGetCount),
    FUNCTION(passRegSize),
    FUNCTION(passRegGet),
    {"initialize", offsetof(api_library_table, initialize)}};

/* ---- errors ---- */

static void add_text(mxl_str *all, const char *text)
{
    size_t length = text == NULL ? 0 : strlen(text);

    while (length > 0 && text[length - 1] == '\n')
        length--;
    mxl_str_addf(all, "%s%.*s", all->text == NULL ? ": " : "; ", (int)length, text);
}

int api_library_failed(const api_catch *here, const char *name, const char *what)
{
    const api_library_table *call = &here->library->call;
    int count = call->msgSize(), status;
    mxl_str text = {0};

    for (int i = here->first; i < count; i++) {
        const char *message = "";

        call->msgGet(i, &message);
        add_text(&text, message);
    }
    if (here->thrown[0] != '\0')
        add_text(&text, here->thrown);
    status = mxl_error("%s%s%s of the library failed%s", name == NULL ? "" : name,
                       name == NULL ? "" : ": ", what,
                       text.text == NULL ? ", which gave no reason" : text.text);
    mxl_str_clear(&text);
    return status;
}

/* ---- names of what there is ---- */

typedef struct name_list {
    const struct name_list *older; /* stays with those who asked for it */
    uint32_t count;
    const char *list[];
} name_list;

enum { OPERATORS, PARTITIONERS, PASSES, KINDS }; /* as MXLLibraryNames numbers them */

/* Written under the lock, read without. Memory of the system: what is loaded stays for the process.
 */
static _Atomic(name_list *) known[KINDS];
static api_library *libraries;
static mxl_mutex lock = MXL_MUTEX_INIT;

/* A list with the names that are known and room for `count` more; NULL with the error set. */
static name_list *longer(const name_list *older, int count)
{
    size_t all = (older == NULL ? 0 : older->count) + (size_t)count;
    size_t bytes = sizeof(name_list) + all * sizeof(char *);
    name_list *made = mxl_state_system_memory(bytes);

    if (made == NULL)
        return (void)mxl_error_memory(bytes), NULL;
    made->older = older;
    if (older != NULL) {
        made->count = older->count;
        memcpy(made->list, older->list, older->count * sizeof(*made->list));
    }
    return made;
}

int MXLLibraryNames(int kind, uint32_t *size, const char ***names)
{
    name_list *all;

    API_NEED(size);
    API_NEED(names);
    *size = 0;
    *names = NULL;
    if (kind < 0 || kind >= KINDS)
        return mxl_error("MXLLibraryNames: kind must be 0, 1 or 2, got %d", kind);
    all = atomic_load(&known[kind]);
    if (all != NULL) {
        *size = all->count;
        *names = all->list;
    }
    return 0;
}

/* ---- operators ---- */

/* The function for the CPU of those for each device. */
static api_body for_cpu(int count, const char **devices, api_body *bodies)
{
    for (int i = 0; i < count; i++) {
        if (strcmp(devices[i], "cpu") == 0)
            return bodies[i];
    }
    return NULL;
}

static char *text_of(const char *prefix, const char *name)
{
    size_t bytes = strlen(prefix) + strlen(name) + 1;
    char *text = mxl_state_system_memory(bytes);

    if (text == NULL)
        return (void)mxl_error_memory(bytes), NULL;
    return strcat(strcpy(text, prefix), name);
}

static int take_op(api_library *l, int i)
{
    api_library_op *o = &l->ops[i];
    const char *name = NULL, **devices[3] = {NULL};
    int is_subgraph = 0, count[3] = {0};
    api_body *bodies[3] = {NULL};
    const char *missing = NULL;
    char *own, *back;

    o->library = l;
    l->call.opRegGet(i, &name, &is_subgraph, &devices[0], &bodies[0], &count[0], &devices[1],
                     &bodies[1], &count[1], &devices[2], &bodies[2], &count[2], &o->parse,
                     &o->types, &o->stypes, &o->shapes, &o->mutates);
    if (name == NULL || name[0] == '\0')
        return mxl_error("operator %d of the library has no name", i);
    if (o->parse == NULL)
        missing = "parse_attrs";
    else if (count[0] == 0 && count[2] == 0)
        missing = "forward or create_op_state";
    else if (o->types == NULL && !is_subgraph)
        missing = "infer_type";
    else if (o->shapes == NULL && !is_subgraph)
        missing = "infer_shape";
    if (missing != NULL)
        return mxl_error("operator %.200s of the library has no %s", name, missing);
    o->forward = for_cpu(count[0], devices[0], bodies[0]);
    o->backward = for_cpu(count[1], devices[1], bodies[1]);
    o->state = for_cpu(count[2], devices[2], bodies[2]);
    own = text_of("", name);
    back = own == NULL ? NULL : text_of("_backward_", name);
    if (back == NULL) {
        free(own);
        return -1;
    }
    api_library_describe(o, own, back);
    if (is_subgraph)
        o->op.refused =
            "it is for parts of a graph that a library's back end takes, and mxlite has "
            "no such back ends";
    l->listed[i] = &o->op;
    return 0;
}

static int take_ops(api_library *l)
{
    int count = l->call.opRegSize();
    size_t bytes;

    if (count < 0)
        return mxl_error("the library says that it has %d operators", count);
    bytes = ((size_t)count + 1) * (sizeof(*l->ops) + sizeof(*l->listed));
    l->ops = mxl_state_system_memory(bytes);
    if (l->ops == NULL)
        return mxl_error_memory(bytes);
    l->listed = (const mxl_op **)(l->ops + count + 1);
    for (; l->num_ops < count; l->num_ops++) {
        if (take_op(l, l->num_ops) != 0)
            return -1;
    }
    return 0;
}

static void free_ops(api_library *l)
{
    for (int i = 0; i < l->num_ops; i++) {
        free((void *)(uintptr_t)l->ops[i].op.name);
        free((void *)(uintptr_t)l->ops[i].back.name);
    }
    free(l->ops);
}

/* ---- loading ---- */

static int find_function(api_library *l, mxl_probe_symbol symbol)
{
    const mxl_probe_symbol one[] = {symbol, {0}};

    if (mxl_probe_fill(l->opened, "", one, &l->call))
        return 0;
    return mxl_error("it exports no %s, so it is no library of operators for MXNet 1.9.1",
                     symbol.name);
}

static int find_functions(api_library *l)
{
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        if (find_function(l, functions[i]) != 0)
            return -1;
    }
    return 0;
}

static int check_version(api_library *l)
{
    int given;

    if (find_function(l, (mxl_probe_symbol)FUNCTION(opVersion)) != 0)
        return -1;
    given = l->call.opVersion();
    return given == INTERFACE ? 0
                              : mxl_error("it was built for version %d of the interface "
                                          "(lib_api.h), MXNet 1.9.1 has version %d",
                                          given, INTERFACE);
}

/* Lists of all names with those of the library; of a kind that it has none of, `lists` has NULL. */
static int list_names(const api_library *l, name_list *lists[KINDS])
{
    const int counts[KINDS] = {l->num_ops, l->call.partRegSize(), l->call.passRegSize()};

    for (int kind = 0; kind < KINDS; kind++) {
        name_list *made = counts[kind] > 0 ? longer(atomic_load(&known[kind]), counts[kind]) : NULL;

        if (made == NULL && counts[kind] > 0)
            return -1;
        lists[kind] = made;
        for (int i = 0; i < counts[kind]; i++) {
            const char **name = &made->list[made->count++];
            api_body body;

            if (kind == OPERATORS)
                *name = l->ops[i].op.name;
            else if (kind == PARTITIONERS)
                (void)l->call.partRegGetCount(i, name);
            else
                l->call.passRegGet(i, &body, name);
        }
    }
    return 0;
}

static int initialize(const api_library *l)
{
    int done;

    API_CATCH(here, l);
    API_CALL(done, here, l->call.initialize(MXNET_VERSION));
    return done ? 0 : api_library_failed(&here, NULL, "initialize");
}

/* `*keep`: the library stays open, since its code has run. */
static int load(api_library *l, bool *keep)
{
    name_list *lists[KINDS] = {NULL};

    if (check_version(l) != 0 || find_functions(l) != 0)
        return -1;
    *keep = true;
    api_catch_prepare();
    if (initialize(l) != 0)
        return -1;
    if (take_ops(l) != 0 || list_names(l, lists) != 0 || mxl_op_add(l->num_ops, l->listed) != 0) {
        for (int kind = 0; kind < KINDS; kind++)
            free(lists[kind]);
        free_ops(l);
        return -1;
    }
    for (int kind = 0; kind < KINDS; kind++) {
        if (lists[kind] != NULL)
            atomic_store(&known[kind], lists[kind]);
    }
    return 0;
}

static int load_once(const char *path)
{
    void *opened = mxl_probe_open(path);
    api_library *l;
    bool keep = false;

    if (opened == NULL)
        return -1;
    for (l = libraries; l != NULL; l = l->next) {
        if (l->opened == opened) {
            mxl_library_close(opened); /* it was opened once more */
            return 0;
        }
    }
    l = mxl_state_system_memory(sizeof(*l));
    if (l == NULL) {
        mxl_library_close(opened);
        return mxl_error_memory(sizeof(*l));
    }
    l->opened = opened;
    if (load(l, &keep) != 0) {
        if (!keep)
            mxl_library_close(opened);
        free(l);
        return -1;
    }
    l->next = libraries;
    libraries = l;
    return 0;
}

int MXLoadLib(const char *path, unsigned verbose)
{
    int status;

    (void)verbose; /* the library prints nothing: see MXLLibraryNames */
    API_NEED(path);
    mxl_mutex_lock(&lock);
    status = load_once(path);
    mxl_mutex_unlock(&lock);
    if (status == 0)
        return 0;
    (void)mxl_error_prefix(path);
    return mxl_error_prefix(__func__);
}
