import type { ObjectReference, ObjectSink, ResourceKind } from '../../application/ports/cluster-source.js';

/** Keeps what a source delivers: every call as a line, and the objects that currently exist. */
export class RecordingSink implements ObjectSink {
  /** `applied Service default/web`, `deleted Node /n1`, `synced Service`. */
  readonly calls: string[] = [];
  /** By `Kind namespace/name`. */
  readonly objects = new Map<string, unknown>();

  applied(kind: ResourceKind, object: unknown): void {
    const { metadata } = object as { metadata?: { namespace?: string; name?: string } };
    const key = `${kind} ${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`;
    this.calls.push(`applied ${key}`);
    this.objects.set(key, object);
  }

  deleted(kind: ResourceKind, { namespace, name }: ObjectReference): void {
    const key = `${kind} ${namespace}/${name}`;
    this.calls.push(`deleted ${key}`);
    this.objects.delete(key);
  }

  synced(kind: ResourceKind): void {
    this.calls.push(`synced ${kind}`);
  }

  /** The calls since the last `take`. */
  take(): readonly string[] {
    return this.calls.splice(0);
  }
}
