import {
  readEndpointSlice,
  type IgnoredSlice,
  readEndpoints,
} from '../../domain/decode/read-endpoint-slice.js';
import type { EndpointSlice } from '../../domain/model/endpoint-slice.js';
import { serviceKey, type ServiceKey } from '../../domain/model/service-port-name.js';
import type { SliceChange } from '../../domain/state/cluster-state.js';
import type { PendingChanges } from '../../domain/state/pending-changes.js';
import type { ObjectReference } from '../ports/cluster-source.js';
import type { HandlerParts, ObjectHandler } from './object-handler.js';
import { rawName } from './object-reports.js';

/** A valid slice that this proxy does not need, and why. */
interface UnneededSlice {
  readonly namespace: string;
  readonly name: string;
  readonly ignored: IgnoredSlice;
}

/**
 * Use cases OnEndpointSliceAdd, OnEndpointSliceUpdate, OnEndpointSliceDelete and OnEndpointSlicesSynced. A slice that becomes
 * invalid keeps its last valid version.
 */
export class EndpointSliceHandler implements ObjectHandler {
  constructor(private readonly parts: HandlerParts) {}

  applied(object: unknown): void {
    const { reports, nodeName } = this.parts;
    const { value, ignored, problems, notes = [] } = readEndpointSlice(object, nodeName);
    // Names of valid objects need no quoting.
    const name = value ? `${value.namespace}/${value.name}` : rawName(object);
    const all = [...problems, ...notes];
    const isNews = reports.report('EndpointSlice', name, all, value !== undefined);
    if (isNews && value)
      recordIgnored(this.parts, serviceKey(value.namespace, value.service), `EndpointSlice ${name}`, all);
    if (value) this.handle(value);
    else if (ignored !== undefined) {
      const [namespace = '', slice = ''] = name.split('/');
      this.handle({ namespace, name: slice, ignored });
    }
  }

  deleted({ namespace, name }: ObjectReference): void {
    this.parts.reports.forget('EndpointSlice', serviceKey(namespace, name));
    this.onEndpointSliceDelete(namespace, name);
  }

  synced(): void {
    this.onEndpointSlicesSynced();
  }

  /** The current version of a slice: new, or known. */
  handle(slice: EndpointSlice | UnneededSlice): void {
    if (this.parts.state.hasSlice(slice.namespace, slice.name)) this.onEndpointSliceUpdate(slice);
    else this.onEndpointSliceAdd(slice);
  }

  onEndpointSliceAdd(slice: EndpointSlice | UnneededSlice): void {
    const { logger } = this.parts;
    logger.verbose?.(4)?.debug({ endpoints: nameOf(slice) }, 'Calling handler.OnEndpointSliceAdd');
    this.apply(slice);
  }

  onEndpointSliceUpdate(slice: EndpointSlice | UnneededSlice): void {
    const { logger } = this.parts;
    logger.verbose?.(4)?.debug({ endpoints: nameOf(slice) }, 'Calling handler.OnEndpointSliceUpdate');
    this.apply(slice);
  }

  onEndpointSliceDelete(namespace: string, name: string): void {
    const { logger, state } = this.parts;
    logger
      .verbose?.(4)
      ?.debug({ endpoints: serviceKey(namespace, name) }, 'Calling handler.OnEndpointSliceDelete');
    this.parts.terminating?.forget(namespace, name);
    this.noteRemoved(state.removeSlice(namespace, name));
  }

  onEndpointSlicesSynced(): void {
    this.parts.logger.verbose?.(3)?.debug({}, 'Calling handler.OnEndpointSlicesSynced()');
  }

  private apply(slice: EndpointSlice | UnneededSlice): void {
    const { state, startTime, terminating } = this.parts;
    const { namespace, name } = slice;
    if ('ignored' in slice) {
      terminating?.forget(namespace, name);
      const leaves = slice.ignored === 'unlabeled';
      this.noteRemoved(leaves ? state.leaveSlice(namespace, name) : state.removeSlice(namespace, name));
      return;
    }
    terminating?.follow(slice);
    const { triggerTime } = slice;
    this.note(state.applySlice(slice), (pending, service) => {
      if (triggerTime !== undefined && triggerTime > startTime) pending.triggered(service, triggerTime);
    });
  }

  private noteRemoved(changes: readonly SliceChange[]): void {
    this.note(changes, (pending, service) => pending.forgetTriggers(service));
  }

  /** @param more what else to note for each Service */
  private note(
    changes: readonly SliceChange[],
    more: (pending: PendingChanges, service: ServiceKey) => void,
  ): void {
    const { logger, loops, observer } = this.parts;
    logger.verbose?.(5)?.debug({ changes }, 'EndpointSlice event handled');
    observer.endpointSliceEvent(changes.length > 0);
    for (const { service, family } of changes)
      loops.note([family], (pending) => {
        pending.serviceChanged(service);
        more(pending, service);
      });
  }
}

/** Handles hand-written Endpoints, and those of old clusters: they are converted to equivalent slices. */
export class EndpointsHandler implements ObjectHandler {
  /** Names of the slices made of each Endpoints object. */
  private readonly slices = new Map<ServiceKey, readonly string[]>();

  constructor(
    private readonly parts: Pick<HandlerParts, 'reports' | 'nodeName' | 'ignoredParts' | 'state'>,
    private readonly sliceHandler: EndpointSliceHandler,
  ) {}

  applied(object: unknown): void {
    const { reports, nodeName } = this.parts;
    const { value, problems } = readEndpoints(object, nodeName);
    const key = rawName(object);
    const isNews = reports.report('Endpoints', key, problems, value !== undefined);
    if (isNews && value) recordIgnored(this.parts, key, `Endpoints ${key}`, problems);
    if (!value) return;
    const names = value.map((slice) => slice.name);
    for (const slice of value) this.sliceHandler.handle(slice);
    this.removeOthers(key, names);
    this.slices.set(key, names);
  }

  deleted({ namespace, name }: ObjectReference): void {
    const key = serviceKey(namespace, name);
    this.parts.reports.forget('Endpoints', key);
    this.removeOthers(key, []);
    this.slices.delete(key);
  }

  private removeOthers(key: ServiceKey, kept: readonly string[]): void {
    const [namespace = ''] = key.split('/');
    for (const name of this.slices.get(key) ?? []) {
      if (!kept.includes(name)) this.sliceHandler.onEndpointSliceDelete(namespace, name);
    }
  }
}

/** A Service that this proxy does not serve gets no events from it. */
function recordIgnored(
  { state, ignoredParts }: Pick<HandlerParts, 'state' | 'ignoredParts'>,
  service: ServiceKey,
  object: string,
  problems: readonly string[],
): void {
  if (state.notProxiedKind(service) === undefined) ignoredParts?.(service, object, problems);
}

function nameOf({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return serviceKey(namespace, name);
}
