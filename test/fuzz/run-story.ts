import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { EventReason } from '../model/events.js';
import type { Mode } from '../model/objects.js';
import { METHOD_ANNOTATION } from '../model/service-ports.js';
import { TestbedModel } from '../model/testbed-model.js';
import { ProxyProcess } from '../support/program/proxy-process.js';
import { trackedConnections } from '../support/testbed/conntrack.js';
import { planOf, type Family, type Target, type TargetProtocol } from '../support/testbed/probe-plan.js';
import { observe, type Observation } from '../support/testbed/probe.js';
import type { Testbed } from '../support/testbed/testbed.js';
import { markRules, removeSomeRules, rulesOf } from './foreign-writer.js';
import { HeldConnections } from './held-connections.js';
import { judgeFlows, judgePackets, judgeShares, type Disagreement } from './judge.js';
import { Random } from './random-cluster.js';
import { openNode } from './story-node.js';
import { configurationOf, manifestOf, simpler, type Step, type Story } from './story.js';

/** Longer than the second after which a TCP client sends its first packet again. Milliseconds. */
const QUIET = 1_300;
/** Connections of each client to each address: all clients together show every endpoint. */
const CONNECTIONS = { sticky: 6, other: 4 };
/** What the proxy does beside its writes is waited for so long, which only ends a failure. Milliseconds. */
const PATIENCE = 60_000;

/** In IPVS mode without SCTP: IPVS forgets an association 3 s after an INIT without an answer, and its tracked connection with it. */
const PROTOCOLS: readonly TargetProtocol[] = ['tcp', 'udp', 'sctp'];

const NODE_ADDRESSES = { IPv4: '198.51.100.11', IPv6: '[2001:db8:2::11]' };

export interface Result {
  readonly disagreements: readonly (Disagreement & { readonly step: number })[];
  /** How many things were compared. */
  readonly compared: Readonly<
    Record<'packets' | 'flows' | 'held' | 'healthChecks' | 'restarts' | 'events', number>
  >;
}

/** Runs a story with a real proxy and real packets, on a node of its own; the first step with disagreements ends it. */
export async function runStory(story: Story): Promise<Result> {
  const testbed = await openNode(story.iptables, story.hasServers);
  const run = new StoryRun(testbed, story);
  try {
    for (const [index, step] of story.steps.entries()) {
      const found = await run
        .take(step, index)
        .catch((error: unknown) => [{ subject: 'the program, or the test bed', problem: String(error) }]);
      if (found.length > 0)
        return { disagreements: found.map((one) => ({ ...one, step: index + 1 })), compared: run.compared };
    }
    return { disagreements: [], compared: run.compared };
  } finally {
    await run.end();
    await testbed.close();
  }
}

class StoryRun {
  readonly compared = { packets: 0, flows: 0, held: 0, healthChecks: 0, restarts: 0, events: 0 };
  private proxy: ProxyProcess | undefined;
  private mode: Mode;
  private services: Step['services'] = [];
  private changes = 0;
  /** Of the step before; empty if something cut its flows. */
  private observations: readonly Observation[] = [];
  private healthUrls: readonly string[] = [];
  /** That some step had a reason for. */
  private readonly allowedEvents = new Set<string>();
  private readonly held: HeldConnections;

  constructor(
    private readonly testbed: Testbed,
    private readonly story: Story,
  ) {
    this.held = new HeldConnections(testbed, new Random(story.seed));
    this.mode = story.configuration.mode;
  }

  async take(step: Step, index: number): Promise<readonly Disagreement[]> {
    const [former, formerMode] = [this.services, this.mode];
    this.services = step.services;
    const isChange = !isDeepStrictEqual(former, step.services);
    if (isChange) this.changes++;
    const objects = manifestOf(step, this.changes);
    const written = await this.happen(step, objects, isChange, index);
    const model = new TestbedModel(objects, { ...this.story.configuration, mode: this.mode });
    const found = [
      ...written,
      ...(await this.compareFlows(model, former)),
      ...(await this.compareHeld(model, former, formerMode)),
    ];
    if (found.length > 0) return found;
    // Removed rules are written again soon, without any change of objects, and rules of another mode are removed after the start.
    const { event } = step;
    // In userspace mode, endpoints that answer late lose their connection, and with it their client, to others.
    const isLate = event === 'foreign' || typeof event === 'object' || this.mode === 'userspace';
    const packets = await this.comparePackets(model, objects, isLate ? PATIENCE : 0);
    if (packets.length > 0) return packets;
    const unopened = this.story.hasServers ? await this.held.open(model, this.observations) : [];
    return [...unopened, ...(await this.compareHealthChecks(model)), ...(await this.compareEvents(model))];
  }

  async end(): Promise<void> {
    await this.proxy?.remove();
  }

  /** Makes the step's event happen and its objects be there; answers what was written although nothing had changed. */
  private async happen(
    { event }: Step,
    objects: string,
    isChange: boolean,
    index: number,
  ): Promise<readonly Disagreement[]> {
    const { node } = this.testbed;
    if (!this.proxy) {
      await node.run(['nft', '-f', '-'], PLUGIN_RULES);
      const config = configurationOf(this.story);
      this.proxy = await ProxyProcess.start({ host: node, mode: this.mode, config, objects });
    } else if (event === 'restart' || event === 'kill') {
      await this.proxy.stop(event === 'kill' ? 'SIGKILL' : 'SIGTERM');
      await markRules(node);
      const before = await rulesOf(node, this.mode);
      await this.proxy.place(objects);
      await this.proxy.startAgain();
      this.compared.restarts++;
      // In userspace mode each process listens on other ports.
      if (isChange || this.mode === 'userspace') return [];
      const isAdded = (rule: string) => !before.has(rule) && !(this.movesSlots && SLOT.test(rule));
      const added = [...(await rulesOf(node, this.mode))].filter(isAdded);
      return added.map((rule) => ({ subject: 'a restart without a change', problem: `wrote ${rule}` }));
    } else if (typeof event === 'object') {
      await this.proxy.stop();
      await this.proxy.place(objects);
      this.mode = event.mode;
      await this.proxy.startAgain(event.mode);
      this.observations = [];
    } else {
      if (event === 'foreign') {
        const random = new Random(this.story.seed + index);
        await this.held.close(await removeSomeRules(node, this.mode, this.story.iptables, random));
        this.observations = [];
      }
      if (isChange) await this.proxy.change(objects);
    }
    return [];
  }

  /** Slots follow the open connections, whose number may have changed since the previous process ended. */
  private get movesSlots(): boolean {
    return this.services.some(
      ({ service }) => service.metadata.annotations?.[METHOD_ANNOTATION] === 'least-connections',
    );
  }

  /** @param former the Services of the step before */
  private async compareFlows(
    model: TestbedModel,
    former: Step['services'],
  ): Promise<readonly Disagreement[]> {
    const [old, present] = [specsOf(former), specsOf(this.services)];
    const look = async () =>
      judgeFlows(
        model,
        this.observations,
        await trackedConnections(this.testbed.node),
        (service) => isDeepStrictEqual(old.get(service), present.get(service)),
        this.story.hasServers,
      );
    this.compared.flows += this.observations.reduce((sum, { connections }) => sum + connections.length, 0);
    // Flows are removed beside syncs, soon after them.
    const { ended, stale } = await until(look, (found) => found.stale.length === 0, PATIENCE);
    return [...ended, ...stale];
  }

  /** Connections end with the process in userspace mode, and with their virtual server in IPVS mode. */
  private async compareHeld(
    model: TestbedModel,
    former: Step['services'],
    formerMode: Mode,
  ): Promise<readonly Disagreement[]> {
    this.compared.held += this.held.count;
    const [old, present] = [specsOf(former), specsOf(this.services)];
    const conflicts = model.model.conflicts();
    return this.held.judge((client, target) => {
      if (formerMode === 'userspace' || this.mode === 'userspace') return false;
      if (this.mode !== 'ipvs') return true;
      const service = target.label.split(':')[0]!;
      const isServed = model.outcome(target, client).kind === 'endpoints' && !conflicts.includes(service);
      return isServed && isDeepStrictEqual(old.get(service), present.get(service));
    });
  }

  private async comparePackets(
    model: TestbedModel,
    objects: string,
    patience: number,
  ): Promise<readonly Disagreement[]> {
    const protocols = PROTOCOLS.filter((protocol) => protocol !== 'sctp' || this.mode !== 'ipvs');
    const plans = {
      ipv4: shortPlan(objects, 'ipv4', protocols),
      ipv6: shortPlan(objects, 'ipv6', protocols),
    };
    const look = async () => {
      const observations = await observe(this.testbed, plans, QUIET, this.held.count > 0);
      return {
        observations,
        found: [...judgePackets(model, observations), ...judgeShares(model, observations)],
      };
    };
    const { observations, found } = await until(look, (one) => one.found.length === 0, patience);
    this.compared.packets += observations.length;
    this.observations = observations;
    return found;
  }

  private async compareHealthChecks({ model }: TestbedModel): Promise<readonly Disagreement[]> {
    const checks = model.healthChecks();
    const urls = new Map(
      checks.map(({ port, family, localEndpoints }) => [
        `http://${NODE_ADDRESSES[family]}:${port}/`,
        `${localEndpoints > 0 ? 200 : 503} ${localEndpoints}`,
      ]),
    );
    const closed = this.healthUrls.filter((url) => !urls.has(url)).map((url) => [url, 'closed'] as const);
    this.healthUrls = [...urls.keys()];
    const wanted = [...urls, ...closed].map(([url, answer]) => ({ url, answer }));
    this.compared.healthChecks += wanted.length;
    const look = async () =>
      (await Promise.all(wanted.map(async (one) => ({ ...one, met: await this.healthOf(one.url) })))).filter(
        ({ answer, met }) => answer !== met,
      );
    const wrong = await until(look, (found) => found.length === 0, PATIENCE);
    return wrong.map(({ url, answer, met }) => ({
      subject: `health check ${url}`,
      problem: `${met} instead of ${answer}`,
    }));
  }

  private async healthOf(url: string): Promise<string> {
    try {
      const { status, body } = await this.testbed.node.get(url);
      return `${status} ${(JSON.parse(body) as { localEndpoints: number }).localEndpoints}`;
    } catch (error) {
      if (String(error).includes('ECONNREFUSED')) return 'closed';
      throw error;
    }
  }

  /** Each Service has the events that it must have, and no Service ever got another one. */
  private async compareEvents({ model }: TestbedModel): Promise<readonly Disagreement[]> {
    const required = [...model.events()].flatMap(([service, reasons]) =>
      [...reasons].map((reason) => `${reason} on ${service}`),
    );
    this.compared.events += required.length;
    for (const event of required) this.allowedEvents.add(event);
    const look = () => Promise.resolve(recordedEvents(this.proxy!.log));
    const recorded = await until(look, (events) => required.every((one) => events.has(one)), PATIENCE);
    const missing = required.filter((one) => !recorded.has(one));
    const unexpected = [...recorded].filter((one) => !this.allowedEvents.has(one));
    return [
      ...missing.map((subject) => ({ subject, problem: 'no such event' })),
      ...unexpected.map((subject) => ({ subject, problem: 'such an event without a reason' })),
    ];
  }
}

/**
 * Rules as a network plugin has them. The kernel tracks and translates connections only while some rule needs it. Without these rules, a
 * packet of an established connection to a node port would be reset while all rules of the proxy are missing (docs/internals/nftables.md).
 */
const PLUGIN_RULES = ['ip', 'ip6']
  .map(
    (family) =>
      `table ${family} plugin { chain out { type nat hook postrouting priority srcnat; ct state invalid counter; }; }\n`,
  )
  .join('');

/** An element of a table of slots in nftables mode. */
const SLOT = /^\S+ \. \d+ : \S+$/;

/** Reasons of events that the model knows. */
const REASONS: ReadonlySet<string> = new Set<EventReason>([
  'FrontendConflict',
  'AnnotationIgnored',
  'NotSupportedByMode',
]);

/** With manifests, events are lines of the log. */
function recordedEvents(log: string): ReadonlySet<string> {
  const events = log.split('\n').flatMap((line) => {
    if (!line.includes('"msg":"event"')) return [];
    const { name, reason } = JSON.parse(line) as { readonly name: string; readonly reason: string };
    return REASONS.has(reason) ? `${reason} on ${name}` : [];
  });
  return new Set(events);
}

function specsOf(services: Step['services']): ReadonlyMap<string, unknown> {
  return new Map(services.map(({ service }) => [`default/${service.metadata.name}`, service]));
}

/** All addresses of Services, each once, with as many connections as the fuzz opens. */
function shortPlan(objects: string, family: Family, protocols: readonly TargetProtocol[]): readonly Target[] {
  const plan = new Map<string, Target>();
  for (const target of planOf(objects, family, protocols)) {
    const { proto, dst, port } = target;
    const key = `${proto} ${dst} ${port}`;
    const sticky = target.sticky || plan.get(key)?.sticky === true;
    plan.set(key, { ...target, sticky, n: CONNECTIONS[sticky ? 'sticky' : 'other'] });
  }
  return [...plan.values()];
}

/** Looks until the condition holds, or the time is over; returns what was seen last. */
async function until<Seen>(
  look: () => Promise<Seen>,
  condition: (seen: Seen) => boolean,
  milliseconds: number,
): Promise<Seen> {
  const deadline = Date.now() + milliseconds;
  for (;;) {
    const seen = await look();
    if (condition(seen) || Date.now() >= deadline) return seen;
    await sleep(100);
  }
}

/** The simplest story that still ends with a disagreement, as far as it is found in this time. */
export async function shrink(story: Story, minutes = 10): Promise<Story> {
  const end = Date.now() + minutes * 60_000;
  let simplest = story;
  for (let found = true; found;) {
    found = false;
    for (const candidate of simpler(simplest)) {
      if (Date.now() > end) return simplest;
      const { disagreements } = await runStory(candidate);
      if (disagreements.length === 0) continue;
      simplest = candidate;
      found = true;
      break;
    }
  }
  return simplest;
}
