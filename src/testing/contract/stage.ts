import assert from 'node:assert/strict';
import type { ApplyResult, Backend } from '../../application/ports/backend.js';
import type { ForwardingEntry } from '../../domain/forwarding/forwarding-entry.js';
import type { ForwardingChange } from '../../domain/forwarding/forwarding-table.js';
import type { NodeNetwork } from '../../domain/forwarding/node-network.js';
import type { ServicePortKey } from '../../domain/model/service-port-name.js';
import type { BackendSubject } from './backend-subject.js';
import { everyKind } from './sample-sets.js';
import { sampleNode } from './sample-services.js';

/** The cases by name. */
export type CaseBodies<Place> = Readonly<Record<string, (stage: Stage<Place>) => Promise<void>>>;

/** A place, and the backends that one case opens on it. */
export class Stage<Place> {
  readonly node: NodeNetwork;
  /** A service of every kind. */
  readonly all: readonly ForwardingEntry[];
  private readonly opened: Backend[] = [];

  private constructor(
    private readonly subject: BackendSubject<Place>,
    readonly place: Place,
  ) {
    this.node = sampleNode(subject.family);
    this.all = everyKind(subject.family);
  }

  /** Runs a case on its own place, and cleans up after success and failure. */
  static async run<Place>(
    subject: BackendSubject<Place>,
    body: (stage: Stage<Place>) => Promise<void>,
  ): Promise<void> {
    const stage = new Stage(subject, await subject.makePlace());
    try {
      await body(stage);
    } finally {
      for (const backend of stage.opened) await backend.close();
      await subject.removePlace?.(stage.place);
    }
  }

  /** A backend on the place, as in a new process. */
  async open(): Promise<Backend> {
    const backend = await this.subject.open(this.place);
    this.opened.push(backend);
    return backend;
  }

  /** A new process that has programmed these, all of them unless some are given. */
  async started(entries = this.all, node = this.node): Promise<Backend> {
    const backend = await this.open();
    succeeds(await backend.start(entries, node));
    return backend;
  }

  async snapshot(): Promise<unknown> {
    return structuredClone(await this.subject.snapshot(this.place));
  }

  /** The result of a fresh start with these entries on another place: with copies, so that it reuses nothing kept for their lists. */
  async fresh(entries: readonly ForwardingEntry[], node: NodeNetwork): Promise<unknown> {
    let snapshot: unknown;
    await Stage.run(this.subject, async (stage) => {
      await stage.started(structuredClone(entries), node);
      snapshot = await stage.snapshot();
    });
    return snapshot;
  }

  /** Asserts that the place holds what a fresh start with these entries would leave. */
  async holds(entries: readonly ForwardingEntry[], when: string, node = this.node): Promise<void> {
    assert.deepEqual(await this.snapshot(), await this.fresh(entries, node), when);
  }
}

/** Asserts that every service port was programmed. */
export function succeeds(result: ApplyResult): void {
  assert.deepEqual(result.failed, [], 'a service port could not be programmed');
}

/** Asserts that no other service port could not be programmed. */
export function failsAtMost({ failed }: Pick<ApplyResult, 'failed'>, refused: ServicePortKey): void {
  for (const { key } of failed) assert.equal(key, refused);
}

/** Asserts that nothing had to be written. */
export function writesNothing(result: ApplyResult, when: string): void {
  succeeds(result);
  assert.equal(result.written, 0, `steps written ${when}`);
}

export function changed(...entries: readonly ForwardingEntry[]): readonly ForwardingChange[] {
  return entries.map((entry) => ({ key: entry.key, entry }));
}

export function gone(...entries: readonly ForwardingEntry[]): readonly ForwardingChange[] {
  return entries.map(({ key }) => ({ key, entry: undefined }));
}
