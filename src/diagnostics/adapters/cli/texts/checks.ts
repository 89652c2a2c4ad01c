import type { KernelWalk, ProbedEndpoints } from '../../../application/explain/checks/results.js';

/** For people, a line for each obstacle. */
export function kernelWalkLines({ obstacles, incomplete }: KernelWalk): readonly string[] {
  return [
    ...obstacles.map(
      ({ from, to, outcome, reason }) =>
        `  in the kernel: from ${from} to ${to}: ${outcome}, ${reason}; \`kubeproxy trace --kernel --from ${from} --to ${to}\` shows its way`,
    ),
    ...(incomplete === undefined ? [] : [`  in the kernel: not looked at everything: ${incomplete}`]),
  ];
}

/** For people, a line for each endpoint. */
export function probedEndpointsLines({ probed, left }: ProbedEndpoints): readonly string[] {
  return [
    ...probed.map(
      ({ endpoint, protocol, facts }) => `  probe of ${endpoint}/${protocol}: ${facts.join(', ')}`,
    ),
    ...(probed.length === 0 ? ['  probe: no endpoint is used'] : []),
    ...(left > 0 ? [`  probe: ${left} more were not tried`] : []),
  ];
}
