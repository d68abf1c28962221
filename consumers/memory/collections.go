package memory

// Collections are the names of the collections that hold the points of environments and of documents, valid after Open.
func (m *Memory) Collections() (environments, documents string) {
	return m.environments.Name, m.documents.Name
}
