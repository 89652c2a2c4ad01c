import { constants } from 'node:os';
import type { ApiObject } from '../../support/api-server/object-store.js';
import { addressBytes } from '../kernel/netlink/addresses.js';
import type { Plan } from '../schedule/plan.js';
import type { StepKind } from '../schedule/step-kind.js';
import type { Simulation } from '../simulation.js';

/** NETLINK_…. */
const [ROUTE, NETFILTER] = [0, 12];
/** What kernels reject batches with that are as they should be. */
const ERRORS = [
  'EINVAL',
  'EEXIST',
  'ENOENT',
  'ENOMEM',
  'ENOBUFS',
  'EINTR',
  'EAGAIN',
  'EBUSY',
  'EPERM',
  'ENFILE',
  'EOPNOTSUPP',
];
/** A process that may not list connections never may: its capabilities do not come back. */
const PERMITTED = ERRORS.filter((error) => error !== 'EPERM');
/** An address that exists already is there. */
const OF_ADDRESSES = ERRORS.filter((error) => error !== 'EEXIST');
const COUNTS = ['1', '1', '2', '5', '30', 'all'];
const SERVICES = '/api/v1/services';
/** Programs that commit to nf_tables all the time. */
const STRANGER = 700_000;

interface Fault {
  /** Whether it can happen in such a world. Missing: it can in all. */
  readonly isMet?: (plan: Plan) => boolean;
  /** Its arguments; undefined where it cannot happen now. */
  plan(plan: Plan): readonly string[] | undefined;
  begin(simulation: Simulation, args: readonly string[]): void;
}

function always(): boolean {
  return true;
}

/** A part of the kernel rejects so many requests. */
const refusal = (
  refuse: (simulation: Simulation, errno: number, count: number) => void,
  isMet: (plan: Plan) => boolean = always,
  errors: readonly string[] = ERRORS,
): Fault => ({
  isMet,
  plan: (plan) => [plan.pick('error', errors), plan.pick('count', COUNTS)],
  begin: (simulation, [error = '', count = '1']) => refuse(simulation, errnoOf(error), countOf(count)),
});

const isIn =
  (...modes: readonly string[]) =>
  ({ settings }: Plan): boolean =>
    modes.includes(settings.mode);

const FAULTS: Readonly<Record<string, Fault>> = {
  batches: refusal(
    ({ world: { machine } }, errno, count) => machine.nfTables.refuseNext({ errno, count }),
    isIn('nftables'),
  ),
  /** Whatever has the address of a Service in it, until the trouble ends. */
  service: {
    isMet: isIn('nftables'),
    plan(plan) {
      const service = plan.pickService();
      return service === undefined ? undefined : [service, plan.pick('error', ERRORS)];
    },
    begin({ world, cluster }, [service = '', error = '']) {
      const [namespace = '', name = ''] = service.split('/');
      for (const containing of addressesOf(cluster.api.store.get(SERVICES, namespace, name)))
        world.machine.nfTables.refuseNext({ errno: errnoOf(error), count: Infinity, containing });
    },
  },
  'answers-lost': {
    isMet: isIn('nftables'),
    plan: ({ random }) => [random.pick(['1', '2', '10'])],
    begin: ({ world: { machine } }, [count = '1']) => machine.nfTables.faults.loseAnswers(Number(count)),
  },
  /** Another program commits so many times, so many milliseconds apart: listings are interrupted, and batches come too late. */
  commits: {
    plan: ({ random }) => [random.pick(['20', '200', '1000']), random.pick(['0.05', '1', '7'])],
    begin: ({ world }, [count = '0', gap = '1']) => commitAgain(world, Number(count), Number(gap)),
  },
  notifications: {
    plan: ({ random }) => [random.pick(['route', 'netfilter'])],
    begin: ({ world: { machine } }, [which = '']) =>
      machine.sockets.loseNotifications(which === 'route' ? ROUTE : NETFILTER),
  },
  conntrack: refusal(
    ({ world: { machine } }, errno, count) => machine.conntrack.refuseNext(unlessGone(errno), count),
    always,
    PERMITTED,
  ),
  'conntrack-lists': refusal(
    ({ world: { machine } }, errno, count) => machine.conntrack.refuseListings(errno, count),
    always,
    PERMITTED,
  ),
  'conntrack-lists-interrupted': {
    plan: ({ random }) => [random.pick(['1', '5', '50'])],
    begin: ({ world: { machine } }, [count = '1']) => machine.conntrack.interruptListings(Number(count)),
  },
  route: refusal(
    ({ world: { machine } }, errno, count) => machine.routing.refuseNext(errno, count),
    isIn('ipvs'),
    OF_ADDRESSES,
  ),
  'route-lists': refusal(({ world: { machine } }, errno, count) =>
    machine.routing.refuseQuestions(errno, count),
  ),
  nfacct: refusal(
    ({ world: { machine } }, errno, count) => machine.accounting.refuseNext(errno, count),
    isIn('iptables', 'ipvs'),
  ),
  'virtual-servers': refusal(
    ({ world: { machine } }, errno, count) => machine.ipvs.refuseNext(unlessGone(errno), count),
    isIn('ipvs'),
  ),
  'virtual-server-lists': refusal(
    ({ world: { machine } }, errno, count) => machine.ipvs.refuseQuestions(errno, count),
    isIn('ipvs'),
  ),
};

/** The kernel does not do what it is asked for. It does again after so many times, or when all trouble ends. */
export const kernelFault: StepKind = {
  name: 'kernel-fault',
  weight: 4,
  plan(plan) {
    const possible = Object.keys(FAULTS).filter((name) => FAULTS[name]!.isMet?.(plan) ?? true);
    const name = plan.pickAsked('kernel-fault', possible);
    if (name === undefined) return undefined;
    const args = FAULTS[name]!.plan(plan);
    return args && [name, ...args];
  },
  perform(simulation, [name = '', ...args]) {
    const fault = FAULTS[name];
    if (!fault)
      throw new Error(
        `no fault of the kernel is called ${name}; there are ${Object.keys(FAULTS).join(', ')}`,
      );
    fault.begin(simulation, args);
  },
};

function errnoOf(name: string): number {
  const number = (constants.errno as Readonly<Record<string, number>>)[name];
  if (number === undefined) throw new Error(`no error is called ${name}`);
  return number;
}

/** To a deletion ENOENT says that it is done: no kernel rejects one of what is there with it. */
function unlessGone(errno: number): number {
  return errno === constants.errno.ENOENT ? constants.errno.EINVAL : errno;
}

function countOf(text: string): number {
  return text === 'all' ? Infinity : Number(text);
}

function addressesOf(service: ApiObject | undefined): readonly Buffer[] {
  const { clusterIPs = [] } = (service?.spec ?? {}) as { readonly clusterIPs?: readonly string[] };
  return clusterIPs.filter((address) => address !== 'None').map((address) => addressBytes(address));
}

function commitAgain(world: Simulation['world'], left: number, gap: number): void {
  if (left === 0) return;
  world.machine.nfTables.touch(STRANGER, 'nft');
  world.scheduler.after(gap, () => commitAgain(world, left - 1, gap), world.fate);
}
