import type { TestbedModel } from '../model/testbed-model.js';
import type { Host } from '../support/testbed/host.js';
import type { Observation } from '../support/testbed/probe.js';
import type { Testbed } from '../support/testbed/testbed.js';
import type { Target } from '../support/testbed/probe-plan.js';
import type { EndsConnections } from './foreign-writer.js';
import { endpointIn, type Disagreement } from './judge.js';
import type { Random } from './random-cluster.js';

/** A connection that a client keeps open. */
interface Held {
  readonly host: Host;
  readonly handle: number;
  readonly client: string;
  readonly target: Target;
  /** As it was opened. */
  readonly endpoint: string;
}

/** Which clients keep connections open, and their addresses, where the host has several. */
const CLIENTS: Readonly<Record<string, readonly string[] | undefined>> = {
  node: undefined,
  ext: ['198.18.0.50', '2001:db8:18::50'],
};
/** In each step so many more are opened. */
const MORE = 8;
const MOST = 32;
/** For an answer, which only ends a failure. Milliseconds. */
const PATIENCE = 60_000;

/** Established TCP connections, which go on whatever becomes of their endpoint and of the proxy. */
export class HeldConnections {
  private held: Held[] = [];

  constructor(
    private readonly testbed: Testbed,
    private readonly random: Random,
  ) {}

  get count(): number {
    return this.held.length;
  }

  /** Opens connections to some of these; endpoints answer them. */
  async open(model: TestbedModel, observations: readonly Observation[]): Promise<readonly Disagreement[]> {
    const candidates = observations.filter(
      ({ client, target }) =>
        client in CLIENTS &&
        target.proto === 'tcp' &&
        !target.dst.startsWith('127.') &&
        model.draws(model.outcome(target, client), target, client).length > 0,
    );
    const found: Disagreement[] = [];
    for (let more = MORE; more > 0 && candidates.length > 0 && this.held.length < MOST; more--) {
      const { client, target } = this.random.one(candidates);
      const problem = await this.openOne(model, client, target);
      if (problem !== undefined)
        found.push({ subject: `a connection to ${target.label} from ${client}`, problem });
    }
    return found;
  }

  private async openOne(model: TestbedModel, client: string, target: Target): Promise<string | undefined> {
    const host = client === 'node' ? this.testbed.node : this.testbed.ext;
    const { dst, port } = target;
    const src = CLIENTS[client]?.[dst.includes(':') ? 1 : 0];
    const request = { ...(src !== undefined && { src }), dst, port, timeoutMs: PATIENCE };
    try {
      const { handle, answer } = await host.ask<{ handle: number; answer: string }>('hold', request);
      const endpoint = endpointIn(answer);
      this.held.push({ host, handle, client, target, endpoint });
      const draws = model.draws(model.outcome(target, client), target, client);
      return draws.some((one) => one.endpoint === endpoint) ? undefined : `${endpoint} answered`;
    } catch (error) {
      return String(error);
    }
  }

  /** Closes the connections that another program has ended. */
  async close(isEnded: EndsConnections): Promise<void> {
    const ended = this.held.filter(({ target, endpoint }) => isEnded(target, endpoint));
    this.held = this.held.filter((one) => !ended.includes(one));
    await Promise.all(ended.map(({ host, handle }) => host.ask('release', { handle })));
  }

  /**
   * Connections that do not work any more.
   * @param survives whether it must; those that need not are closed
   */
  async judge(survives: (client: string, target: Target) => boolean): Promise<readonly Disagreement[]> {
    const found: Disagreement[] = [];
    const kept: Held[] = [];
    await Promise.all(
      this.held.map(async (one) => {
        const { host, handle, client, target, endpoint } = one;
        if (!survives(client, target)) return void (await host.ask('release', { handle }));
        const text = `still ${endpoint}?`;
        const answer = await host
          .ask<{ answer: string }>('sayHeld', { handle, text, timeoutMs: PATIENCE })
          .then((received) => received.answer, String);
        if (answer === text) return void kept.push(one);
        const subject = `the connection to ${target.label} from ${client} (to ${endpoint})`;
        found.push({ subject, problem: `ended: ${answer}` });
      }),
    );
    this.held = kept;
    return found;
  }
}
