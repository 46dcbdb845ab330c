/* What the collector of cycles sees of the library: a tensor's object (owner.c) refers to the
 * payloads that its handle keeps. After payloads.c.
 *
 * A collection first asks all objects that it looks at for their references, and subtracts those
 * from the objects' counts. Meanwhile a survey counts, for each array and node, the references that
 * it was told of; an object of which it knows all references is *owned*: nothing but the tensors
 * that are looked at keeps it, and its payloads. A payload is shown once then, however many tensors
 * keep it, for the one reference that the library has. Afterwards the collection asks the tensors
 * that it has found to be alive: they show all that they keep, out of what the survey has noted. */

typedef struct surveyed {
    const void *object; /* of the library: an address that is not looked at; NULL: unused */
    int seen, references, owned;
    uint64_t shown;      /* the round of questions in which it was shown */
    int links, payloads; /* the first ones of its lists; -1: none */
} surveyed;

typedef struct survey_link {
    int to, next;
} survey_link;

typedef struct survey_payload {
    PyObject *object; /* borrowed */
    int next;
} survey_payload;

static struct {
    surveyed *objects;
    survey_link *links;
    survey_payload *payloads;
    int *table; /* numbers of objects + 1, by address; a power of two of them */
    int *stack; /* of objects that are to be shown */
    int num_objects, room_objects, num_links, room_links, num_payloads, room_payloads, room_table,
        room_stack;
    int root;                 /* the object that a handle has led to; -1: none */
    int budget;               /* objects that it may still note */
    uint64_t number;          /* of this survey; owners note it */
    uint64_t released, round; /* payloads released before it; of questions after it */
} survey = {.number = 1};

/* The question of the first round, which asks all objects of a collection; NULL: not known. */
static visitproc subtracts;
static visitproc last_question;
static int collecting, is_young, may_learn;

/* What an owner notes of the survey: which one, and the number of its array; -1: it keeps nothing.
 */
typedef struct survey_place {
    uint64_t number;
    int root;
} survey_place;

/* The objects of a young generation that a collection looks at are few, and collections are many:
 * there the graph is looked at as far as steps of training go back. */
enum { YOUNG_BUDGET = 1000, YOUNG_BUDGET_OF_ONE = 50, KEPT_ROOM = 1 << 14 };

/* Makes room for one more item; 0 without memory. */
static int survey_grow(void *list, size_t item, int count, int *room)
{
    int wanted = *room == 0 ? 64 : 2 * *room;
    void *grown;

    if (count < *room)
        return 1;
    if (wanted > INT_MAX / 4)
        return 0;
    grown = realloc(*(void **)list, (size_t)wanted * item);
    if (grown == NULL)
        return 0;
    *(void **)list = grown;
    *room = wanted;
    return 1;
}

static void survey_free(void)
{
    uint64_t number = survey.number;

    free(survey.objects);
    free(survey.links);
    free(survey.payloads);
    free(survey.table);
    free(survey.stack);
    memset(&survey, 0, sizeof(survey));
    survey.number = number;
}

static void survey_begin(void)
{
    survey.number++;
    survey.released = released;
    survey.num_objects = survey.num_links = survey.num_payloads = 0;
    survey.budget = is_young ? YOUNG_BUDGET : INT_MAX;
    if (survey.table != NULL)
        memset(survey.table, 0, (size_t)survey.room_table * sizeof(int));
}

/* ---- the objects, by their addresses ---- */

static int *survey_slot(const void *object)
{
    uint64_t hash = (uint64_t)(uintptr_t)object * UINT64_C(0x9E3779B97F4A7C15);
    int i = (int)(hash >> 32 & (uint64_t)(survey.room_table - 1));

    while (survey.table[i] != 0 && survey.objects[survey.table[i] - 1].object != object)
        i = (i + 1) & (survey.room_table - 1);
    return &survey.table[i];
}

/* A table of twice as many slots as there may be objects. */
static int survey_grow_table(void)
{
    int room = 2 * survey.room_objects;
    int *table;

    if (room <= survey.room_table)
        return 1;
    table = calloc((size_t)room, sizeof(int));
    if (table == NULL)
        return 0;
    free(survey.table);
    survey.table = table;
    survey.room_table = room;
    for (int i = 0; i < survey.num_objects; i++)
        *survey_slot(survey.objects[i].object) = i + 1;
    return 1;
}

/* The number of an object, which is noted where it was not; -1: no memory, or enough are noted. */
static int survey_find(const void *object)
{
    int *slot;

    if (survey.room_table > 0 && *survey_slot(object) != 0)
        return *survey_slot(object) - 1;
    if (survey.budget <= 0 ||
        !survey_grow(&survey.stack, sizeof(int), survey.num_objects, &survey.room_stack) ||
        !survey_grow(&survey.objects, sizeof(surveyed), survey.num_objects, &survey.room_objects) ||
        !survey_grow_table())
        return -1;
    survey.budget--;
    slot = survey_slot(object);
    survey.objects[survey.num_objects] = (surveyed){.object = object, .links = -1, .payloads = -1};
    *slot = ++survey.num_objects;
    return survey.num_objects - 1;
}

/* ---- what the library tells ---- */

/* Notes the reference, after which `from` shows what `to` keeps; whether all of `to` are known. */
static int on_reference(void *data, const void *from, const void *to, int references)
{
    int source = from == NULL ? -1 : survey_find(from), target = survey_find(to);
    surveyed *object;

    (void)data;
    if (target < 0 || (from != NULL && source < 0))
        return 0;
    if (source < 0) {
        survey.root = target;
    } else {
        if (!survey_grow(&survey.links, sizeof(survey_link), survey.num_links, &survey.room_links))
            return 0;
        survey.links[survey.num_links] =
            (survey_link){.to = target, .next = survey.objects[source].links};
        survey.objects[source].links = survey.num_links++;
    }
    object = &survey.objects[target];
    object->seen++;
    object->owned = object->seen == references;
    return object->owned;
}

static void on_payload(void *data, const void *from, void *payload)
{
    int source = survey_find(from);

    (void)data;
    if (source < 0 || !survey_grow(&survey.payloads, sizeof(survey_payload), survey.num_payloads,
                                   &survey.room_payloads))
        return; /* it counts as held by others */
    survey.payloads[survey.num_payloads] =
        (survey_payload){.object = payload, .next = survey.objects[source].payloads};
    survey.objects[source].payloads = survey.num_payloads++;
}

static const MXLPayloadVisitor surveyor = {release_payload, on_reference, on_payload};

/* ---- the collector's questions ---- */

/* Notes what a handle keeps, and shows the payloads that are owned from now on. */
static int survey_add(uint64_t handle, survey_place *place, visitproc visit, void *arg)
{
    int shown = survey.num_payloads, status = 0;

    survey.root = -1;
    if (is_young)
        survey.budget += YOUNG_BUDGET_OF_ONE;
    p_MXLNDArrayVisitPayloads(HANDLE(handle), &surveyor, NULL);
    *place = (survey_place){survey.number, survey.root};
    while (shown < survey.num_payloads && status == 0)
        status = visit(survey.payloads[shown++].object, arg);
    return status;
}

/* Puts an object on the stack, which has room for all, once in a round of questions. */
static int survey_push(int object, int height)
{
    if (survey.objects[object].shown == survey.round)
        return height;
    survey.objects[object].shown = survey.round;
    survey.stack[height] = object;
    return height + 1;
}

/* Shows what the object keeps, directly or not, and has not been shown in this round. */
static int survey_show(int root, visitproc visit, void *arg)
{
    int height = survey_push(root, 0), status = 0;

    while (height > 0 && status == 0) {
        const surveyed *object = &survey.objects[survey.stack[--height]];

        for (int i = object->payloads; i >= 0 && status == 0; i = survey.payloads[i].next)
            status = visit(survey.payloads[i].object, arg);
        for (int i = object->links; i >= 0; i = survey.links[i].next)
            height = survey_push(survey.links[i].to, height);
    }
    return status;
}

/* Answers a question of the collector for one owner. The round that subtracts references begins
 * where the question before was another one, or was put to the same owner. */
static int visit_payloads(uint64_t handle, survey_place *place, visitproc visit, void *arg)
{
    visitproc before = last_question;

    if (!collecting)
        return 0;
    last_question = visit;
    if (subtracts == NULL && may_learn)
        subtracts = visit;
    if (visit == subtracts) {
        if (before != visit || place->number == survey.number)
            survey_begin();
        return survey_add(handle, place, visit, arg);
    }
    survey.round += before != visit;
    if (place->number != survey.number || place->root < 0 || survey.released != released)
        return 0;
    return survey_show(place->root, visit, arg);
}

/* Of gc.callbacks: a collection starts or ends. Other code may put questions in between; those of
 * collections of the middle generation may begin otherwise (Python 3.14). */
static PyObject *payload_collect(PyObject *self, PyObject *args)
{
    const char *phase;
    PyObject *info, *generation;
    long number;

    (void)self;
    if (!PyArg_ParseTuple(args, "sO", &phase, &info))
        return NULL;
    generation = PyDict_Check(info) ? PyDict_GetItemString(info, "generation") : NULL;
    number = generation == NULL ? -1 : PyLong_AsLong(generation);
    collecting = strcmp(phase, "start") == 0;
    is_young = number == 0 || number == 1;
    may_learn = number == 0 || number == 2;
    last_question = NULL;
    survey.number++;
    if (survey.room_objects > KEPT_ROOM)
        survey_free();
    Py_RETURN_NONE;
}
