/** A plain object as a source delivers it; parts are replaced by what a test is about. */
export interface RawObject {
  readonly metadata?: unknown;
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly status?: unknown;
  readonly [field: string]: unknown;
}

export function rawService(spec: object = {}, rest: object = {}): RawObject {
  return {
    metadata: { namespace: 'shop', name: 'cart' },
    spec: { clusterIP: '10.96.7.1', ports: [{ port: 80 }], ...spec },
    ...rest,
  };
}

export function rawSlice(fields: object = {}, metadata: object = {}): RawObject {
  return {
    metadata: {
      namespace: 'shop',
      name: 'cart-1',
      labels: { 'kubernetes.io/service-name': 'cart' },
      ...metadata,
    },
    addressType: 'IPv4',
    ports: [{ name: '', port: 8080 }],
    endpoints: [{ addresses: ['10.244.1.5'] }],
    ...fields,
  };
}
