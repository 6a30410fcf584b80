/* The forms of a call: FORMS makes all of them, and compares their results. */
#ifndef FORMS_H
#define FORMS_H

#define RESET(buffer) memcpy((buffer).found, (buffer).before, (buffer).bytes)

/* The blocking form. */
#define BLOCKING(NAME, buffer, by, expected, ...)                                                  \
    do {                                                                                           \
        RESET(buffer);                                                                             \
        compare(&(buffer), roundel_##NAME(__VA_ARGS__, (by)->how), expected, #NAME, (by)->name);   \
    } while (0)

/* The non-blocking form, and the persistent one, which is started three times. */
#define LATER(NAME, buffer, by, expected, ...)                                                     \
    do {                                                                                           \
        roundel_request *request = NULL;                                                           \
        RESET(buffer);                                                                             \
        int code = roundel_i##NAME(__VA_ARGS__, (by)->how, &request);                              \
        expect((request == NULL) == (code != MPI_SUCCESS), "the request of i" #NAME, (by)->name);  \
        if (code == MPI_SUCCESS)                                                                   \
            code = roundel_wait(&request);                                                         \
        expect(request == NULL, "the end of i" #NAME, (by)->name);                                 \
        compare(&(buffer), code, expected, "i" #NAME, (by)->name);                                 \
        code = roundel_##NAME##_init(__VA_ARGS__, (by)->how, &request);                            \
        expect(class_of(code) == (expected), #NAME "_init", (by)->name);                           \
        for (int start = 0; start < 3 && code == MPI_SUCCESS; start++) {                           \
            RESET(buffer);                                                                         \
            expect(roundel_start(&request) == MPI_SUCCESS, "the start of " #NAME, (by)->name);     \
            compare(&(buffer), roundel_wait(&request), expected, #NAME "_init", (by)->name);       \
        }                                                                                          \
        if (code == MPI_SUCCESS)                                                                   \
            expect(roundel_request_free(&request) == MPI_SUCCESS, "the end of " #NAME, (by)->name);\
        expect(request == NULL, "the end of " #NAME, (by)->name);                                  \
    } while (0)

#define FORMS(NAME, buffer, by, expected, ...)                                                     \
    do {                                                                                           \
        BLOCKING(NAME, buffer, by, expected, __VA_ARGS__);                                         \
        LATER(NAME, buffer, by, expected, __VA_ARGS__);                                            \
    } while (0)

#endif
