import type { Backend } from '../../../src/application/ports/backend.js';
import { LONGEST_DRAINING, ServerTable, SWEEP_PERIOD } from '../../../src/adapters/ipvs/server-table.js';
import { Reconciler } from '../../../src/application/reconcile/reconciler.js';
import type { Service } from '../../../src/domain/model/service.js';
import { MemoryNode, nodeNetwork } from './memory-node.js';
import { changed, entryOf, gone } from './services.js';

const network = nodeNetwork();
const SERVER = '10.96.0.1:80/TCP';
const OLD = '10.244.1.1:8080';
const NEW = '10.244.1.2:8080';
const UDP: Partial<Service> = { ports: [{ name: '', protocol: 'UDP', port: 80, nodePort: 0 }] };

let node: MemoryNode;
let backend: Backend;
beforeEach(async () => {
  node = new MemoryNode();
  backend = node.backend();
  await backend.start([entryOf('a', [1])], network);
});

/** So much later, with a quick verification each minute. */
async function later(milliseconds = SWEEP_PERIOD): Promise<void> {
  for (let time = 0; time < milliseconds; time += SWEEP_PERIOD) {
    await node.clock.advanceAsync(SWEEP_PERIOD);
    await backend.verify('quick');
  }
}

const weights = (server = SERVER) => node.servers.weights[server];

describe('an endpoint that goes', () => {
  it('is deleted at once when it has no connections', async () => {
    await backend.apply(changed(entryOf('a', [2])), network);
    expect(weights()).toEqual({ [NEW]: 1 });
  });

  it('stays with weight 0 while it has connections, active or not, and goes with the last one', async () => {
    node.servers.connect(SERVER, OLD, 1, 1);
    node.takeJournal();
    await backend.apply(changed(entryOf('a', [2])), network);
    // The new endpoint comes before the old one is closed.
    expect(node.takeJournal()).toEqual([`add-real ${SERVER} ${NEW} 1`, `set-real ${SERVER} ${OLD} 0`]);
    await later();
    expect(weights()).toEqual({ [OLD]: 0, [NEW]: 1 });
    node.servers.connect(SERVER, OLD, 0, 1);
    await later();
    expect(weights()).toEqual({ [OLD]: 0, [NEW]: 1 });
    node.servers.connect(SERVER, OLD, 0, 0);
    await later();
    expect(weights()).toEqual({ [NEW]: 1 });
  });

  it('drains no longer than a day', async () => {
    node.servers.connect(SERVER, OLD, 1);
    await backend.apply(changed(entryOf('a', [2])), network);
    await later(LONGEST_DRAINING - SWEEP_PERIOD);
    expect(weights()).toEqual({ [OLD]: 0, [NEW]: 1 });
    await later();
    expect(weights()).toEqual({ [NEW]: 1 });
    expect(node.logger.at('warn')).toEqual([
      expect.objectContaining({ facts: { server: SERVER, endpoint: OLD, connections: 1 } }),
    ]);
  });

  it('drains no longer than a day, however often the kernel is read', async () => {
    node.servers.connect(SERVER, OLD, 1);
    await backend.apply(changed(entryOf('a', [2])), network);
    const hour = 60 * SWEEP_PERIOD;
    for (let time = hour; time < LONGEST_DRAINING; time += hour) {
      await later(hour);
      expect(await backend.verify('full')).toMatchObject({ written: 0 });
      expect(await backend.differences!()).toEqual([]);
    }
    expect(weights()).toEqual({ [OLD]: 0, [NEW]: 1 });
    await later(hour);
    expect(weights()).toEqual({ [NEW]: 1 });
  });

  it('drains whatever weights the others have', async () => {
    const weights = { '10.244.1.1': 3, '10.244.1.2': 5, '10.244.1.3': 7 };
    await backend.apply(changed(entryOf('a', [1, 2, 3], { weights })), network);
    node.servers.connect(SERVER, OLD, 1);
    await backend.apply(changed(entryOf('a', [2, 3], { weights })), network);
    expect(node.servers.weights[SERVER]).toEqual({ [OLD]: 0, [NEW]: 5, '10.244.1.3:8080': 7 });
    node.servers.connect(SERVER, OLD, 0);
    await later();
    expect(node.servers.weights[SERVER]).toEqual({ [NEW]: 5, '10.244.1.3:8080': 7 });
  });

  it('and comes back keeps its connections', async () => {
    node.servers.connect(SERVER, OLD, 3);
    await backend.apply(changed(entryOf('a', [2])), network);
    node.takeJournal();
    await backend.apply(changed(entryOf('a', [1, 2])), network);
    expect(node.takeJournal()).toEqual([`set-real ${SERVER} ${OLD} 1`]);
    await later(2 * SWEEP_PERIOD);
    expect(weights()).toEqual({ [OLD]: 1, [NEW]: 1 });
  });

  it('is deleted at once when it has no connections, also while another one comes back', async () => {
    node.servers.connect(SERVER, OLD, 3);
    await backend.apply(changed(entryOf('a', [2])), network);
    await backend.apply(changed(entryOf('a', [1])), network);
    expect(weights()).toEqual({ [OLD]: 1 });
    await later();
  });

  it('goes with its service, whatever connections it has', async () => {
    node.servers.connect(SERVER, OLD, 3);
    await backend.apply(changed(entryOf('a', [2])), network);
    await backend.apply(gone('a'), network);
    expect(node.servers.weights).toEqual({});
    await later();
  });

  it('is deleted at once where the protocol knows no connections', async () => {
    await backend.apply([...changed(entryOf('b', [1], UDP))], network);
    const server = '10.96.0.2:80/UDP';
    node.servers.connect(server, OLD, 5);
    await backend.apply(changed(entryOf('b', [2], UDP)), network);
    expect(weights(server)).toEqual({ [NEW]: 1 });
  });

  it('is forgotten when another program deletes it', async () => {
    node.servers.connect(SERVER, OLD, 1);
    await backend.apply(changed(entryOf('a', [2])), network);
    const server = node.servers.all[0]!.server;
    node.servers.tamper({ kind: 'delete-real', server, real: { address: '10.244.1.1', port: 8080 } });
    await later();
  });
});

describe.each(['TCP', 'UDP', 'SCTP'] as const)('an endpoint of weight 0, %s', (protocol) => {
  const server = `10.96.0.2:80/${protocol}`;
  const weighing = (weight: number, endpoints: readonly number[] = [1, 2]) =>
    entryOf('b', endpoints, {
      ports: [{ name: '', protocol, port: 80, nodePort: 0 }],
      weights: { '10.244.1.1': weight, '10.244.1.2': 4 },
    });
  beforeEach(async () => {
    await backend.apply(changed(weighing(3)), network);
    node.servers.connect(server, OLD, 2);
    node.takeJournal();
  });

  it('gets no new connections, and keeps those that it has for as long as they last', async () => {
    await backend.apply(changed(weighing(0)), network);
    expect(node.takeJournal()).toEqual([`set-real ${server} ${OLD} 0`]);
    await later(LONGEST_DRAINING + 2 * SWEEP_PERIOD);
    expect(await backend.verify('full')).toMatchObject({ written: 0, failed: [] });
    expect(weights(server)).toEqual({ [OLD]: 0, [NEW]: 4 });
    node.servers.connect(server, OLD, 0);
    await later();
    expect(weights(server)).toEqual({ [OLD]: 0, [NEW]: 4 });
    await backend.apply(changed(weighing(6)), network);
    expect(weights(server)).toEqual({ [OLD]: 6, [NEW]: 4 });
  });

  it('keeps them over a restart, whether its Service can be read or not', async () => {
    await backend.apply(changed(weighing(0)), network);
    await backend.close();
    backend = node.reopened();
    await backend.start([entryOf('a', [1])], network, { keepUnexplained: true });
    expect(weights(server)).toEqual({ [OLD]: 0, [NEW]: 4 });
    expect(await backend.start([entryOf('a', [1]), weighing(0)], network)).toMatchObject({ written: 0 });
    await later(LONGEST_DRAINING + 2 * SWEEP_PERIOD);
    expect(weights(server)).toEqual({ [OLD]: 0, [NEW]: 4 });
  });

  it('goes as others do when it is removed', async () => {
    await backend.apply(changed(weighing(0)), network);
    await backend.apply(changed(weighing(0, [2])), network);
    expect(weights(server)).toEqual(protocol === 'TCP' ? { [OLD]: 0, [NEW]: 4 } : { [NEW]: 4 });
    await later(LONGEST_DRAINING);
    expect(weights(server)).toEqual({ [NEW]: 4 });
  });

  it('keeps its weight as long as the kernel rejects all others', async () => {
    node.servers.refuse((step) =>
      'real' in step && step.real.address === '10.244.1.3' ? 'EINVAL' : undefined,
    );
    const other = entryOf('b', [1, 3], {
      ports: [{ name: '', protocol, port: 80, nodePort: 0 }],
      weights: { '10.244.1.1': 0 },
    });
    await backend.apply(changed(other), network);
    expect(weights(server)).toEqual({ [OLD]: 3, [NEW]: 4 });
    node.servers.refuse(() => undefined);
    await backend.apply(changed(other), network);
    expect(weights(server)).toMatchObject({ [OLD]: 0, '10.244.1.3:8080': 1 });
  });
});

describe('an endpoint that is given up', () => {
  const { frontends } = entryOf('a', [1]);
  const givenUp = async (): Promise<void> => {
    const table = new ServerTable('IPv4', node.servers, [], node.clock, node.logger);
    await table.read();
    await table.giveUp({ address: '10.244.1.1', port: 8080 }, frontends);
  };
  beforeEach(async () => {
    await backend.apply(changed(entryOf('b', [1])), network);
    for (const server of [SERVER, '10.96.0.2:80/TCP']) node.servers.connect(server, OLD, 3);
  });

  it('goes where it drains with all its connections, and stays where clients of others may have it', async () => {
    await backend.apply([...changed(entryOf('a', [2])), ...changed(entryOf('b', [2]))], network);
    await givenUp();
    expect(weights()).toEqual({ [NEW]: 1 });
    expect(weights('10.96.0.2:80/TCP')).toEqual({ [OLD]: 0, [NEW]: 1 });
    await later();
    expect(weights()).toEqual({ [NEW]: 1 });
  });

  it('stays where it is wanted with weight 0', async () => {
    const kept = entryOf('a', [1, 2], { weights: { '10.244.1.1': 0 } });
    const driver = node.driver();
    await new Reconciler({ mode: 'ipvs', family: 'IPv4' }, driver, node.logger).start(
      [kept, entryOf('b', [1])],
      network,
    );
    await driver.giveUp({ address: '10.244.1.1', port: 8080 }, frontends);
    expect(weights()).toEqual({ [OLD]: 0, [NEW]: 1 });
  });

  it('stays where it gets new connections', async () => {
    await givenUp();
    expect(weights()).toEqual({ [OLD]: 1 });
  });
});

describe('a restart in the middle of draining', () => {
  beforeEach(async () => {
    node.servers.connect(SERVER, OLD, 1);
    await backend.apply(changed(entryOf('a', [2])), network);
    await backend.close();
    backend = node.reopened();
    node.takeJournal();
  });

  it('continues to drain what is not wanted', async () => {
    expect(await backend.start([entryOf('a', [2])], network)).toMatchObject({ written: 0 });
    expect(weights()).toEqual({ [OLD]: 0, [NEW]: 1 });
    await later();
    expect(weights()).toEqual({ [OLD]: 0, [NEW]: 1 });
    node.servers.connect(SERVER, OLD, 0);
    await later();
    expect(weights()).toEqual({ [NEW]: 1 });
  });

  it('deletes what had drained before the start', async () => {
    node.servers.connect(SERVER, OLD, 0);
    expect(await backend.start([entryOf('a', [2])], network)).toMatchObject({ written: 1 });
    expect(weights()).toEqual({ [NEW]: 1 });
  });

  it('gives an endpoint that is wanted again its weight back, and keeps its connections', async () => {
    await backend.start([entryOf('a', [1, 2])], network);
    expect(node.takeJournal()).toEqual([`set-real ${SERVER} ${OLD} 1`]);
  });
});

describe('looking after what drains', () => {
  beforeEach(async () => {
    node.servers.connect(SERVER, OLD, 1);
    await backend.apply(changed(entryOf('a', [2])), network);
  });

  it('goes on when the kernel does not answer for a while', async () => {
    node.servers.fail(new Error('ENOBUFS'));
    await later();
    await later();
    expect(node.logger.at('warn')).toHaveLength(1);
    node.servers.fail(undefined);
    node.servers.connect(SERVER, OLD, 0);
    await later();
    expect(weights()).toEqual({ [NEW]: 1 });
  });

  it('tries again when a deletion is refused', async () => {
    node.servers.connect(SERVER, OLD, 0);
    node.servers.refuse(() => 'EBUSY');
    await later();
    expect(node.logger.at('warn')).toHaveLength(1);
    node.servers.refuse(() => undefined);
    await later();
    expect(weights()).toEqual({ [NEW]: 1 });
  });

  it('does not disturb a comparison, nor does that disturb it', async () => {
    expect(await backend.verify('full')).toMatchObject({ written: 0 });
    expect(weights()).toEqual({ [OLD]: 0, [NEW]: 1 });
  });
});
