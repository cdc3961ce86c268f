// Checks notes, roots and consistency proofs with golang.org/x/mod, an
// independent implementation. Reads one JSON value on standard input and prints
// "ok" or a fault.
package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

type input struct {
	Notes    []struct{ Note, Vkey string }
	Leaves   [][]byte
	Roots    map[string]tlog.Hash
	Proofs   []struct {
		Old, Size int64
		Proof     []tlog.Hash
	}
}

func main() {
	var in input
	check(json.NewDecoder(os.Stdin).Decode(&in))
	for _, each := range in.Notes {
		verifier, err := note.NewVerifier(each.Vkey)
		check(err)
		_, err = note.Open([]byte(each.Note), note.VerifierList(verifier))
		check(err)
	}
	hashes := []tlog.Hash{}
	reader := tlog.HashReaderFunc(func(at []int64) ([]tlog.Hash, error) {
		found := []tlog.Hash{}
		for _, i := range at {
			found = append(found, hashes[i])
		}
		return found, nil
	})
	for i, leaf := range in.Leaves {
		more, err := tlog.StoredHashes(int64(i), leaf, reader)
		check(err)
		hashes = append(hashes, more...)
		root, err := tlog.TreeHash(int64(i+1), reader)
		check(err)
		if known, ok := in.Roots[fmt.Sprint(i+1)]; ok && known != root {
			check(fmt.Errorf("root of %d is %s", i+1, base64.StdEncoding.EncodeToString(root[:])))
		}
	}
	for _, each := range in.Proofs {
		root, old := in.Roots[fmt.Sprint(each.Size)], in.Roots[fmt.Sprint(each.Old)]
		check(tlog.CheckTree(each.Proof, each.Size, root, each.Old, old))
	}
	fmt.Println("ok")
}

func check(err error) {
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}
