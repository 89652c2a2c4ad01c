import { describe, parseDescription, type ServiceDescription } from '../cluster/service-description.js';
import { Random } from '../world/random.js';
import type { Mode } from '../world/settings.js';
import type { Schedule, Step } from './schedule.js';

/** Of the worlds so many have clients whose endpoint goes, … */
const ONE_FLOWING_IN = 3;
/** … and of the others so many a Service that the kernel rejects for good. */
const ONE_REJECTING_IN = 2;
/** Milliseconds after the rejected change until all trouble ends. */
const REJECTED_FOR = 3_000;
/** How a change is rejected in the modes where one Service alone can be. */
const REJECTIONS: Readonly<Partial<Record<Mode, (service: string) => Pick<Step, 'name' | 'args'>>>> = {
  nftables: (service) => ({ name: 'kernel-fault', args: ['service', service, 'EINVAL'] }),
  iptables: (service) => ({
    name: 'program-fault',
    args: ['rules-refused', service, 'Invalid_argument', 'all'],
  }),
};
/** After these the mode may be another one. */
const OF_MODES: ReadonlySet<string> = new Set(['restart', 'kube-proxy', 'go-back', 'former-version-again']);

/**
 * The same with one more round, for some of the seeds: things that are rare among what happens by chance, and without which some checks
 * have nothing to look at. They are drawn from numbers of their own, so that all before is as it would be without.
 */
export function withFurtherRound({ settings, steps }: Schedule): Schedule {
  const random = new Random(settings.seed).fork().fork().fork();
  const unchanged = { settings, steps };
  const last = steps.at(-1);
  if (settings.mode === 'userspace' || last?.name !== 'settle') return unchanged;
  const found = [...servicesAfter(steps)].find(
    ([, { type, pods }]) =>
      type !== 'headless' && type !== 'name' && pods.some(({ condition }) => condition === 'ready'),
  );
  if (!found) return unchanged;
  const [name, service] = found;
  const put = (changed: ServiceDescription): Pick<Step, 'name' | 'args'> => ({
    name: 'put',
    args: [name, ...describe(changed)],
  });
  const round = (...added: (Pick<Step, 'name' | 'args'> & { readonly after: number })[]): Schedule => ({
    settings,
    steps: [...steps, ...added.map(({ after, ...step }) => ({ ...step, at: last.at + after }))],
  });
  if (random.isOneIn(ONE_FLOWING_IN)) {
    const moved = service.pods.map((pod, index) => (index === 0 ? { ...pod, number: pod.number + 1 } : pod));
    const other = service.pods.slice(1).some(({ number }) => number === moved[0]!.number);
    return round(
      { after: 0, name: 'flows', args: [] },
      { after: 10, ...put({ ...service, pods: other ? service.pods.slice(1) : moved }) },
      { after: 10, name: 'settle', args: [] },
    );
  }
  const rejection = REJECTIONS[settings.mode];
  if (!rejection || !random.isOneIn(ONE_REJECTING_IN) || steps.some((step) => OF_MODES.has(step.name)))
    return unchanged;
  const isHigh = service.ports[0] === '8080/TCP';
  return round(
    { after: 0, ...rejection(name) },
    { after: 10, ...put({ ...service, ports: [isHigh ? '80/TCP' : '8080/TCP'] }) },
    { after: REJECTED_FOR, name: 'settle', args: [] },
  );
}

/** What users have when all steps are done. */
function servicesAfter(steps: readonly Step[]): ReadonlyMap<string, ServiceDescription> {
  const services = new Map<string, ServiceDescription>();
  for (const { name, args } of steps) {
    const [first = '', second = ''] = args;
    if (name === 'put') services.set(first, parseDescription(args.slice(1)));
    if (name === 'delete' || name === 'take-over') services.delete(first);
    if (name === 'take-over') services.set(second, parseDescription(args.slice(2)));
  }
  return services;
}
