import type { KernelWalk, ProbedEndpoints } from '../../../application/explain/checks/results.js';

/** For people, a line for each obstacle, with its end. */
export function kernelWalkText({ obstacles, incomplete }: KernelWalk): string {
  return lines([
    ...obstacles.map(
      ({ from, to, outcome, reason }) =>
        `  in the kernel: from ${from} to ${to}: ${outcome}, ${reason}; \`kubeproxy trace --kernel --from ${from} --to ${to}\` shows its way`,
    ),
    ...(incomplete === undefined ? [] : [`  in the kernel: not looked at everything: ${incomplete}`]),
  ]);
}

/** For people, a line for each endpoint, with its end. */
export function probedEndpointsText({ probed, left }: ProbedEndpoints): string {
  return lines([
    ...probed.map(
      ({ endpoint, protocol, facts }) => `  probe of ${endpoint}/${protocol}: ${facts.join(', ')}`,
    ),
    ...(probed.length === 0 ? ['  probe: no endpoint is used'] : []),
    ...(left > 0 ? [`  probe: ${left} more were not tried`] : []),
  ]);
}

function lines(texts: readonly string[]): string {
  return texts.map((text) => `${text}\n`).join('');
}
