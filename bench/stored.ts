/** The object with what an API server adds to it. */
export function stored(object: object): Readonly<Record<string, unknown>> {
  const { metadata, ...rest } = object as { metadata: { name: string } };
  const fields = {
    'f:metadata': { 'f:labels': { '.': {}, 'f:app': {} } },
    'f:spec': { 'f:ports': {}, 'f:type': {} },
  };
  return {
    metadata: {
      ...metadata,
      uid: '627bd3ef-a41f-4c6e-90c6-c83fa2076a41',
      resourceVersion: '850000',
      generation: 1,
      creationTimestamp: '2026-11-22T17:06:43Z',
      managedFields: [
        {
          manager: 'kube-controller-manager',
          operation: 'Update',
          apiVersion: 'v1',
          fieldsType: 'FieldsV1',
          fieldsV1: fields,
        },
      ],
    },
    ...rest,
  };
}
