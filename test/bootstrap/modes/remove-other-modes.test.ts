import type { Mode, OpenMode, Successor } from '../../../src/bootstrap/modes/mode.js';
import { removeOtherModes, type StandingLoop } from '../../../src/bootstrap/modes/remove-other-modes.js';
import { RecordingBackend } from '../../../src/testing/fakes/recording-backend.js';

const present: OpenMode = {
  name: 'nftables',
  families: ['IPv4'],
  means: {},
  backend: () => new RecordingBackend('IPv4'),
  close: () => Promise.resolve(),
};

const standing: StandingLoop = {
  firstAttempt: Promise.resolve(undefined),
  verifyNow: () => Promise.resolve(undefined),
  complete: Promise.resolve(),
  unreadSources: [],
  rejectedPorts: [],
};
const partial: StandingLoop = {
  ...standing,
  complete: new Promise(() => {}),
  unreadSources: ['loop.yaml: ELOOP'],
};

const NOTHING = { failed: [], left: [] };
let removed: { name: Mode['name']; isPatient: boolean }[];
beforeEach(() => (removed = []));

function mode(name: Mode['name'], outcome: () => readonly string[] = () => []): Mode {
  return {
    name,
    open: () => Promise.reject(new Error('not asked for')),
    cleanUp: async (successor?: Successor) => {
      removed.push({ name, isPatient: successor?.signal.aborted === false });
      return Promise.resolve(outcome());
    },
  };
}
const names = () => removed.map(({ name }) => name);
const modes = [mode('iptables'), mode('nftables'), mode('ipvs')];

it('removes every mode but the present one', async () => {
  expect(await removeOtherModes([standing, standing], modes, present)).toEqual(NOTHING);
  expect(removed).toEqual([
    { name: 'iptables', isPatient: false },
    { name: 'ipvs', isPatient: false },
  ]);
});

it.each([
  ['were not programmed', { ...standing, firstAttempt: Promise.resolve('IPv4: refused') }, 'IPv4: refused'],
  [
    'cannot be seen',
    { ...standing, verifyNow: () => Promise.resolve('cannot be listed') },
    'cannot be listed',
  ],
  ['may not be all', partial, 'cannot be read: loop.yaml: ELOOP'],
  [
    'are refused in part',
    { ...standing, rejectedPorts: ['shop/s1/tcp/'] },
    'the kernel rejects: shop/s1/tcp/',
  ],
])('removes nothing where the present rules %s, and says so', async (_, loop, reason) => {
  const { failed, left } = await removeOtherModes([standing, loop], modes, present);
  const [problem, ...others] = failed;
  expect(problem).toContain('keeping any rules of other modes');
  expect(problem).toContain(reason);
  expect([others, left, removed]).toEqual([[], [], []]);
});

it('says once what each mode leaves, and goes on with the others', async () => {
  const unseen = () => ['cannot check for rules of iptables-nft'];
  const fail = () => {
    throw new Error('EPERM');
  };
  const leftovers = await removeOtherModes(
    [standing],
    [mode('iptables', unseen), mode('ipvs', fail), mode('userspace', unseen)],
    present,
  );
  expect(leftovers).toEqual({
    left: ['cannot check for rules of iptables-nft'],
    failed: ['cannot remove the rules of ipvs mode: EPERM'],
  });
  expect(names()).toEqual(['iptables', 'ipvs', 'userspace']);
});

describe('while the program runs', () => {
  it('waits until everything could be read, and lets connections end', async () => {
    let reportComplete!: () => void;
    let unreadSources = partial.unreadSources;
    const loop = {
      ...standing,
      complete: new Promise<void>((resolve) => (reportComplete = resolve)),
      get unreadSources() {
        return unreadSources;
      },
    };
    const removal = removeOtherModes([standing, loop], modes, present, new AbortController().signal);
    await new Promise((resolve) => setImmediate(resolve));
    expect(removed).toEqual([]);
    unreadSources = [];
    reportComplete();
    expect(await removal).toEqual(NOTHING);
    expect(removed).toEqual([
      { name: 'iptables', isPatient: true },
      { name: 'ipvs', isPatient: true },
    ]);
  });

  it('does not wait for connections while something else is to be tried again', async () => {
    const fail = () => {
      throw new Error('EPERM');
    };
    const failing = [mode('iptables', fail), mode('ipvs')];
    await removeOtherModes([standing], failing, present, new AbortController().signal);
    expect(removed).toEqual([
      { name: 'iptables', isPatient: true },
      { name: 'ipvs', isPatient: false },
    ]);
  });

  it('does not mind a first attempt that failed, once everything is in place', async () => {
    const recovered = { ...standing, firstAttempt: Promise.resolve('IPv4: refused') };
    const { signal } = new AbortController();
    expect(await removeOtherModes([recovered], modes, present, signal)).toEqual(NOTHING);
    expect(names()).toEqual(['iptables', 'ipvs']);
  });

  it('tells that it begins before it looks whether the present rules stand, and that it waits for connections', async () => {
    const told: string[] = [];
    const progress = { begins: () => void told.push('begins'), waits: () => void told.push('waits') };
    const seen = { ...standing, verifyNow: () => Promise.resolve(void told.push('verified')) };
    const draining: Mode = {
      ...mode('ipvs'),
      cleanUp: (successor) => Promise.resolve((successor?.waiting?.(), [])),
    };
    const { signal } = new AbortController();
    await removeOtherModes([seen], [mode('iptables'), draining], present, signal, progress);
    expect(told).toEqual(['begins', 'verified', 'waits']);
  });

  it('leaves it all to the next start when it ends before', async () => {
    const stopping = new AbortController();
    const removal = removeOtherModes([partial], modes, present, stopping.signal);
    stopping.abort();
    expect(await removal).toEqual(NOTHING);
    expect(removed).toEqual([]);
  });
});
