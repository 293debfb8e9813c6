/* SPDX-License-Identifier: MIT */
/* marks_omp N - two parallel regions of OpenMP, N times, of two threads each; compiled with clang's libomp */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
        int n = argc > 1 ? atoi(argv[1]) : 1, n_tasks = 0, sum = 0;

        for (int i = 0; i < n; i++) {
#pragma omp parallel for reduction(+ : sum) num_threads(2)
                for (int j = 0; j < 100; j++)
                        sum += j;
#pragma omp parallel num_threads(2)
                {
#pragma omp single
                        for (int j = 0; j < 3; j++) {
#pragma omp task
                                {
#pragma omp atomic
                                        n_tasks++;
                                }
                        }
#pragma omp barrier
#pragma omp critical
                        sum++;
                }
        }
        printf("%d tasks, sum %d\n", n_tasks, sum);
        return 0;
}
