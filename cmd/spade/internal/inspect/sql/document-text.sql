SELECT text FROM spade.documents WHERE document_id = toUUID(@id) AND text != ''
