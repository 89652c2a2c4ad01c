import { backendContract } from '../../../src/testing/contract/backend-contract.js';
import { RecordingBackend } from '../../../src/testing/fakes/recording-backend.js';
import type { ApplyResult, VerificationKind, VerifyResult } from '../../../src/application/ports/backend.js';
import type { ForwardingEntry } from '../../../src/domain/forwarding/forwarding-entry.js';
import type { ForwardingChange } from '../../../src/domain/forwarding/forwarding-table.js';
import type { NodeNetwork } from '../../../src/domain/forwarding/node-network.js';
import { recordingSubject } from './subjects.js';

type Changes = readonly ForwardingChange[];

class ForgetsRemovals extends RecordingBackend {
  override apply(changes: Changes, node: NodeNetwork): Promise<ApplyResult> {
    return super.apply(
      changes.filter(({ entry }) => entry),
      node,
    );
  }
}

class KeepsLeftovers extends RecordingBackend {
  override start(entries: Iterable<ForwardingEntry>, node: NodeNetwork): Promise<ApplyResult> {
    return super.start([...this.programmed.values(), ...entries], node);
  }
}

class AlwaysWrites extends RecordingBackend {
  override async apply(changes: Changes, node: NodeNetwork): Promise<ApplyResult> {
    return { ...(await super.apply(changes, node)), written: 1 };
  }
}

class StopsAtFailures extends RecordingBackend {
  override async apply(changes: Changes, node: NodeNetwork): Promise<ApplyResult> {
    const bad = changes.findIndex(({ key }) => this.poisoned.has(key));
    return super.apply(bad < 0 ? changes : changes.slice(0, bad + 1), node);
  }
}

class SwallowsFailures extends RecordingBackend {
  override async start(entries: Iterable<ForwardingEntry>, node: NodeNetwork): Promise<ApplyResult> {
    return { ...(await super.start(entries, node)), failed: [] };
  }
}

class LosesWhatFails extends RecordingBackend {
  override async apply(changes: Changes, node: NodeNetwork): Promise<ApplyResult> {
    const result = await super.apply(changes, node);
    for (const { key } of result.failed) this.programmed.delete(key);
    return result;
  }
}

class ChangesItsInput extends RecordingBackend {
  override start(entries: Iterable<ForwardingEntry>, node: NodeNetwork): Promise<ApplyResult> {
    const list = [...entries];
    for (const { frontends } of list) (frontends as unknown[]).sort();
    return super.start(list, node);
  }
}

class LeavesSomething extends RecordingBackend {
  override async cleanup(): Promise<void> {
    for (const key of [...this.programmed.keys()].slice(1)) this.programmed.delete(key);
  }
}

class ClosesOnce extends RecordingBackend {
  private closed = false;

  override async close(): Promise<void> {
    if (this.closed) throw new Error('it is closed already');
    this.closed = true;
    setImmediate(() => (this.closed = false));
  }
}

class Meddles extends RecordingBackend {
  override async verify(how: VerificationKind): Promise<VerifyResult> {
    if (how === 'full') this.programmed.clear();
    return super.verify(how);
  }
}

class RejectsForOtherReasons extends RecordingBackend {
  override async verify(how: VerificationKind, signal?: AbortSignal): Promise<VerifyResult> {
    if (signal?.aborted) throw new Error('no time');
    return super.verify(how);
  }
}

class KeepsNothing extends RecordingBackend {
  override start(entries: Iterable<ForwardingEntry>, node: NodeNetwork): Promise<ApplyResult> {
    return super.start(entries, node);
  }
}

class KeepsForever extends RecordingBackend {
  override start(entries: Iterable<ForwardingEntry>, node: NodeNetwork): Promise<ApplyResult> {
    return super.start(entries, node, { keepUnexplained: true });
  }
}

class MindsTheOrder extends RecordingBackend {
  override async start(entries: Iterable<ForwardingEntry>, node: NodeNetwork): Promise<ApplyResult> {
    const [first, ...rest] = [...entries];
    return super.start(first ? [{ ...first, knownEndpoints: 1000 }, ...rest] : [], node);
  }
}

const broken = {
  ForgetsRemovals: [ForgetsRemovals, 'has the same rules after every change as after a fresh start'],
  KeepsLeftovers: [KeepsLeftovers, 'corrects what an earlier process left'],
  AlwaysWrites: [AlwaysWrites, 'writes nothing for a change to the same'],
  StopsAtFailures: [StopsAtFailures, 'programs all but a refused service port'],
  SwallowsFailures: [SwallowsFailures, 'starts without a refused service port'],
  LosesWhatFails: [LosesWhatFails, 'programs all but a refused service port'],
  ChangesItsInput: [ChangesItsInput, 'starts with nothing to forward, and with services of every kind'],
  LeavesSomething: [LeavesSomething, 'removes everything that it made'],
  ClosesOnce: [ClosesOnce, 'removes nothing when it is closed'],
  Meddles: [Meddles, 'finds nothing to repair when nothing was changed'],
  RejectsForOtherReasons: [RejectsForOtherReasons, 'rejects only with the reason of the signal'],
  KeepsNothing: [KeepsNothing, 'keeps unexplained rules'],
  KeepsForever: [KeepsForever, 'keeps unexplained rules'],
  MindsTheOrder: [MindsTheOrder, 'programs the same rules in whatever order services come'],
} as const;

describe('the contract', () => {
  it.each(Object.entries(broken))('notices a backend that %s', async (_, [Broken, promise]) => {
    const subject = { ...recordingSubject('IPv4'), makePlace: () => new Broken('IPv4') };
    const { run } = backendContract(subject).find(({ name }) => name.startsWith(promise))!;
    await expect(run()).rejects.toThrow();
  });
});
