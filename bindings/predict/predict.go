// Runs a saved model through the Predict API of MXNet 1.9.1, from Go with cgo, as predict.c does.
//
//	PKG_CONFIG_PATH=build/share/pkgconfig go run predict.go SYMBOL.json MODEL.params DIGITS
//
// Prints the digits that it sees, ten images in a line, and the share that is right.
package main

/*
#cgo pkg-config: mxlite
#include <stdlib.h>
#include <mxlite/c_api.h>
*/
import "C"

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"unsafe"
)

const (
	pixels  = 64
	classes = 10
	record  = pixels + 1 // bytes of an image and its digit
	train   = 1437
	batch   = 10
)

// Predictor is a model whose input has one shape. It is for one goroutine at a time.
type Predictor struct{ handle C.PredictorHandle }

// call runs a function of the library, whose message belongs to the thread of the call.
func call(function func() C.int) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if function() != 0 {
		return errors.New(C.GoString(C.MXGetLastError()))
	}
	return nil
}

// NewPredictor makes one from a symbol's JSON and the bytes of a .params file.
func NewPredictor(json string, params []byte, input string, shape ...uint32) (*Predictor, error) {
	text, name := C.CString(json), C.CString(input)
	defer C.free(unsafe.Pointer(text))
	defer C.free(unsafe.Pointer(name))
	bytes := C.CBytes(params)
	defer C.free(bytes)
	places := []C.uint32_t{0, C.uint32_t(len(shape))}
	sizes := make([]C.uint32_t, len(shape))
	for i, size := range shape {
		sizes[i] = C.uint32_t(size)
	}
	// An array of pointers that C reads must be C's own.
	names := (**C.char)(C.malloc(C.size_t(unsafe.Sizeof(name))))
	defer C.free(unsafe.Pointer(names))
	*names = name
	p := &Predictor{}
	err := call(func() C.int {
		return C.MXPredCreate(text, bytes, C.int(len(params)), 1, 0, 1, names, &places[0], &sizes[0], &p.handle)
	})
	if err != nil {
		return nil, err
	}
	return p, nil
}

// Close frees it.
func (p *Predictor) Close() error { return call(func() C.int { return C.MXPredFree(p.handle) }) }

// Run gives the first output for the values of an input.
func (p *Predictor) Run(input string, values []float32) ([]float32, error) {
	name := C.CString(input)
	defer C.free(unsafe.Pointer(name))
	size := 1
	err := call(func() C.int {
		status := C.MXPredSetInput(p.handle, name, (*C.float)(&values[0]), C.uint32_t(len(values)))
		if status == 0 {
			status = C.MXPredForward(p.handle)
		}
		var shape *C.uint32_t // the library lends it to this thread
		var ndim C.uint32_t
		if status == 0 {
			status = C.MXPredGetOutputShape(p.handle, 0, &shape, &ndim)
		}
		for i := 0; i < int(ndim); i++ {
			size *= int(unsafe.Slice(shape, ndim)[i])
		}
		return status
	})
	if err != nil {
		return nil, err
	}
	output := make([]float32, size)
	err = call(func() C.int {
		return C.MXPredGetOutput(p.handle, 0, (*C.float)(&output[0]), C.uint32_t(size))
	})
	return output, err
}

// see prints the digits of a batch of images, and counts those that are right.
func see(p *Predictor, images []byte) (int, error) {
	values := make([]float32, 0, batch*pixels)
	for i := 0; i < batch; i++ {
		for _, pixel := range images[i*record : i*record+pixels] {
			values = append(values, float32(pixel)/16)
		}
	}
	scores, err := p.Run("data", values)
	if err != nil {
		return 0, err
	}
	right, words := 0, make([]string, batch)
	for i := range words {
		best := 0
		for k, score := range scores[i*classes : (i+1)*classes] {
			if score > scores[i*classes+best] {
				best = k
			}
		}
		words[i] = fmt.Sprint(best)
		if best == int(images[i*record+pixels]) {
			right++
		}
	}
	fmt.Println(strings.Join(words, " "))
	return right, nil
}

func run(files []string) error {
	var contents [3][]byte
	for i := range contents {
		var err error
		if contents[i], err = os.ReadFile(files[i]); err != nil {
			return err
		}
	}
	p, err := NewPredictor(string(contents[0]), contents[1], "data", batch, pixels)
	if err != nil {
		return err
	}
	defer p.Close()
	right, seen := 0, 0
	for at := train; (at+batch)*record <= len(contents[2]); at += batch {
		now, err := see(p, contents[2][at*record:(at+batch)*record])
		if err != nil {
			return err
		}
		right += now
		seen += batch
	}
	fmt.Printf("held-out accuracy %.3f\n", float64(right)/float64(seen))
	return nil
}

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: predict SYMBOL.json MODEL.params DIGITS")
		os.Exit(2)
	}
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "predict:", err)
		os.Exit(1)
	}
}
